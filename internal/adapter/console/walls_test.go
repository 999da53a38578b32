package console

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// A token of one tenant meets nothing of another's, not even that it is there.
func TestWallsBetweenTenants(t *testing.T) {
	d := newDesk(t, func(w *world, _ *Options) {
		w.x[push.Ref{Tenant: "globex", Code: "code-9"}] = w.x[push.Ref{Tenant: "acme", Code: "code-1"}]
		w.dirty = append(w.dirty, DirtyCode{Ref: push.Ref{Tenant: "globex", Code: "code-9"}})
		w.codes = append(w.codes, registry.Code{Code: roster.Code{ID: "code-2"}})
	}).as(t, "acme")
	for _, path := range []string{
		"/console/tenants/globex", "/console/tenants/globex/codes/code-9", "/console/tenants/globex/staff?id=amy", "/console/dirty?tenant=globex",
		"/console/fanouts?tenant=globex", "/console/decisions?tenant=globex", "/console/letters", "/console/letter?id=12:3:0",
		"/console/live?page=overview", "/console/live?page=code&tenant=globex&code=code-9", "/console/do/refresh?tenant=globex",
		"/console/do/dirty-retry?tenant=globex&code=code-9", "/console/do/letter-republish?id=12:3:0",
	} {
		status, body := d.get(t, path)
		strange, unknown := d.get(t, strings.ReplaceAll(path, "globex", "initech"))
		if status != http.StatusNotFound || strange != status || stripped(body) != stripped(unknown) {
			t.Errorf("%s: %d; a tenant that is not there: %d", path, status, strange)
		}
	}
	for _, path := range []string{"/console/dirty", "/console/fanouts", "/console/decisions", "/console/search?q=code", "/console/search?q=code-9", "/console/search?q=globex", "/console/search?q=globex/code-9"} {
		if status, body := d.get(t, path); status != http.StatusOK || strings.Contains(body, "codes/code-9") || strings.Contains(body, "tenants/globex") {
			t.Errorf("%s: %d, and shows what is globex's", path, status)
		}
	}
	if status, _ := d.get(t, "/console/"); status != http.StatusSeeOther {
		t.Errorf("the overview: %d", status)
	}
	for _, path := range []string{"/console/do/refresh", "/console/do/dirty-retry-all"} {
		if answer := d.post(t, path, "tenant", "globex", "reason", "blocked", "why", "x"); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
	if len(d.ordered)+len(d.decisions) > 0 {
		t.Error("something was done on the other side of the wall")
	}
}

// stripped is a page without the address of itself.
func stripped(body string) string {
	before, after, _ := strings.Cut(body, `name="next" value="`)
	_, after, _ = strings.Cut(after, `"`)
	return before + after
}

// pagesOf are all pages of a world.
var pagesOf = []string{
	"/console/", "/console/tenants/acme", "/console/tenants/acme?span=24h", "/console/tenants/acme/codes/code-1",
	"/console/tenants/acme/codes/code-1?at=2026-11-30T11:50:00&staff=amy", "/console/tenants/acme/codes/code-1?at=2026-11-30T01:00:00",
	"/console/tenants/acme/staff?id=amy", "/console/tenants/acme/staff?id=%3Cimg+src%3Dx+onerror%3D%22alert%281%29%22%3E",
	"/console/dirty", "/console/dirty?tenant=acme&reason=blocked", "/console/fanouts", "/console/letters", "/console/letter?id=12:3:0",
	"/console/decisions", "/console/search", "/console/search?q=code", "/console/search?q=%3Cimg", "/console/search?q=acme/",
}

// deedsOf are the questions before every action, and the scope that each needs.
var deedsOf = map[string]string{
	"/console/do/refresh?tenant=acme&code=code-1": "write", "/console/do/refresh?tenant=acme&staff=amy": "write", "/console/do/refresh?tenant=acme": "write",
	"/console/do/hold?tenant=acme": "admin", "/console/do/suspend?tenant=acme&staff=amy": "admin", "/console/do/release?tenant=acme": "admin",
	"/console/do/lane?tenant=acme&code=code-1": "admin", "/console/do/dirty-retry?tenant=acme&code=code-1": "write",
	"/console/do/dirty-retry-all?tenant=acme&reason=blocked": "write", "/console/do/dirty-drop?tenant=acme&code=code-1": "admin",
	"/console/do/letter-republish?id=12:3:0": "write", "/console/do/letter-discard?id=12:3:0": "admin",
}

func TestWhoOnlyReadsIsOfferedNothingAndDoesNothing(t *testing.T) {
	d := newDesk(t).as(t, "reader")
	for _, path := range pagesOf {
		status, body := d.get(t, path)
		if status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
		if strings.Contains(body, "/console/do/") || strings.Contains(body, "Ask WeCom") {
			t.Errorf("%s offers an action", path)
		}
	}
	for path, scope := range deedsOf {
		if status, body := d.get(t, path); status != http.StatusForbidden || !strings.Contains(body, ">"+scope+"<") {
			t.Errorf("GET %s: %d", path, status)
		}
		to, query, _ := strings.Cut(path, "?")
		values := []string{"why", "x"}
		for pair := range strings.SplitSeq(query, "&") {
			name, value, _ := strings.Cut(pair, "=")
			values = append(values, name, value)
		}
		if answer := d.post(t, to, values...); answer.StatusCode != http.StatusForbidden {
			t.Errorf("POST %s: %s", path, answer.Status)
		}
	}
	if answer := d.post(t, "/console/tenants/acme/codes/code-1"); answer.StatusCode != http.StatusForbidden || d.asked > 0 {
		t.Errorf("asking WeCom: %s, asked %d times", answer.Status, d.asked)
	}
	if len(d.decisions) > 0 {
		t.Error("something was done")
	}
}

func TestAWriterDoesNotDoWhatIsAnAdministrators(t *testing.T) {
	d := newDesk(t).as(t, "writer")
	for path, scope := range deedsOf {
		want := map[string]int{"write": http.StatusOK, "admin": http.StatusForbidden}[scope]
		if status, _ := d.get(t, path); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
}

// A form from elsewhere does nothing, whatever cookies come with it.
func TestFormsFromElsewhere(t *testing.T) {
	order := []string{"tenant", "acme", "code", "code-1", "why", "x"}
	for name, change := range map[string]func(*desk){
		"another site":      func(d *desk) { d.header.Set("Sec-Fetch-Site", "cross-site") },
		"another origin":    func(d *desk) { d.header.Set("Origin", "https://evil.example") },
		"no token":          func(d *desk) { d.form = "" },
		"another's token":   func(d *desk) { d.form = newDesk(t).as(t, "chief").form },
		"without a session": func(d *desk) { clear(d.cookies) },
	} {
		d := newDesk(t).as(t, "chief")
		change(d)
		answer := d.post(t, "/console/do/refresh", order...)
		if answer.StatusCode != http.StatusForbidden && answer.StatusCode != http.StatusSeeOther || len(d.ordered) > 0 {
			t.Errorf("%s: %s, %d orders", name, answer.Status, len(d.ordered))
		}
	}
	d := newDesk(t).as(t, "chief")
	d.header.Set("Sec-Fetch-Site", "same-origin")
	if answer := d.post(t, "/console/do/refresh", order...); answer.StatusCode != http.StatusOK || len(d.ordered) != 1 {
		t.Errorf("its own: %s, %d orders", answer.Status, len(d.ordered))
	}
}
