package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// quoted is the value of an attribute.
var quoted = regexp.MustCompile(`"[^"]*"`)

// forbidden is what of a page its policy forbids; "" is nothing.
func forbidden(body string) string { return inline.FindString(quoted.ReplaceAllString(body, `""`)) }

// inline matches what the policy forbids, and a name that became markup.
var inline = regexp.MustCompile(`(?i)<[^>]*\s(style|on[a-z]+)=|<style|<script(?: [^>]*)?>[^<]|<img|<b>|ZgotmplZ|%!`)

func TestEveryPageInEachLanguage(t *testing.T) {
	d := newDesk(t).as(t, "chief")
	d.decisions = append(d.decisions, decision.Decision{ID: "1", At: noon, By: evil, Action: decision.DropDirty, Subject: evil, Reason: evil, State: decision.Failed, Failure: evil})
	paths := append([]string{"/console/signin", "/console/nothing"}, pagesOf...)
	for path := range deedsOf {
		paths = append(paths, path)
	}
	for _, language := range []string{"en", "zh-CN"} {
		d.header.Set("Accept-Language", language)
		for _, path := range paths {
			status, body := d.get(t, path)
			if path == "/console/signin" {
				continue // leads on
			}
			if want := http.StatusOK; status != want && path != "/console/nothing" {
				t.Errorf("%s: %d", path, status)
			}
			if !strings.Contains(body, `<html lang="`+language) || !strings.HasSuffix(strings.TrimSpace(body), "</html>") {
				t.Errorf("%s in %s is not whole", path, language)
			}
			if found := forbidden(body); found != "" {
				t.Errorf("%s holds %q", path, found)
			}
		}
	}
}

func TestAPageOfNothing(t *testing.T) {
	d := newDesk(t, func(w *world, _ *Options) {
		w.view, w.minutes, w.dirty, w.jobs, w.letters, w.codes = board.View{At: noon}, nil, nil, nil, nil, nil
		w.x = map[push.Ref]explain.Explanation{{Tenant: "acme", Code: "code-1"}: {}}
	}).as(t, "chief")
	for _, path := range pagesOf {
		if path == "/console/letter?id=12:3:0" {
			continue
		}
		if status, body := d.get(t, path); status != http.StatusOK || forbidden(body) != "" {
			t.Errorf("%s: %d", path, status)
		}
	}
	if _, body := d.get(t, "/console/"); !strings.Contains(body, "Nothing is wrong.") {
		t.Error("the overview of nothing")
	}
	d.view.Unread = []board.Unread{{Part: board.PartBroker, Unset: true}}
	d.later(viewFor)
	if _, body := d.get(t, "/console/"); !strings.Contains(body, "Nothing is wrong.") {
		t.Error("a part that is not configured is taken for one that could not be read")
	}
	d.view.Unread = []board.Unread{{Part: board.PartDirty}}
	d.later(viewFor)
	if _, body := d.get(t, "/console/"); strings.Contains(body, "Nothing is wrong.") || !strings.Contains(body, "Nothing is wrong in what could be read.") {
		t.Error("what could not be read is taken for right")
	}
}

func TestAPageOfMuch(t *testing.T) {
	d := newDesk(t, func(w *world, _ *Options) {
		for n := range 400 {
			id := fmt.Sprintf("code-%0120d", n)
			w.codes = append(w.codes, registry.Code{Code: roster.Code{ID: id, Remark: strings.Repeat("春", 30)}})
			w.dirty = append(w.dirty, DirtyCode{Ref: push.Ref{Tenant: "acme", Code: id}, Reasons: dirtyReasons, Detail: strings.Repeat("x", 5000)})
		}
		for n := range 1440 {
			w.minutes = append(w.minutes, board.Minute{At: noon.Add(time.Duration(n-1440) * time.Minute), Granted: n * 1000, Refused: n})
		}
	}).as(t, "chief")
	for _, path := range pagesOf {
		if status, body := d.get(t, path); status != http.StatusOK || forbidden(body) != "" {
			t.Errorf("%s: %d", path, status)
		}
	}
	_, body := d.get(t, "/console/tenants/acme")
	if rows := strings.Count(body, "/codes/code-"); rows > codesOnPage+someOfTenant*3 || !strings.Contains(body, "after=code-") {
		t.Errorf("%d codes on a page", rows)
	}
}

func TestHeaders(t *testing.T) {
	d := newDesk(t).as(t, "chief")
	for _, path := range []string{"/console/", "/console/signin", "/console/nothing", "/console/live?page=nothing"} {
		h := d.send(t, httptest.NewRequest(http.MethodGet, "https://rollcall.example"+path, http.NoBody)).Header
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
	}
	for _, wide := range []string{"unsafe", "http:", "https:", "*"} {
		if strings.Contains(policy, wide) {
			t.Errorf("the policy holds %q", wide)
		}
	}
}

func TestAssets(t *testing.T) {
	d := newDesk(t)
	_, page := d.get(t, "/console/signin")
	found := regexp.MustCompile(`/console/assets/[\w.]+`).FindAllString(page, -1)
	if len(found) != 3 {
		t.Fatalf("the page loads %q", found)
	}
	for _, path := range found {
		answer := d.send(t, httptest.NewRequest(http.MethodGet, "https://rollcall.example"+path, http.NoBody))
		if answer.StatusCode != http.StatusOK || !strings.Contains(answer.Header.Get("Cache-Control"), "immutable") || answer.Header.Get("Content-Type") == "" {
			t.Errorf("%s: %s, %v", path, answer.Status, answer.Header)
		}
		if body := text(t, answer); strings.Contains(body, "http://") && !strings.Contains(body, "www.w3.org/2000/svg") || strings.Contains(body, "https://") {
			t.Errorf("%s asks somebody else", path)
		}
	}
	if status, _ := d.get(t, "/console/assets/console.css"); status != http.StatusNotFound {
		t.Errorf("a name without a hash: %d", status)
	}
}

// What a person asks of the past, the page answers as the command does.
func TestThePastOnAPage(t *testing.T) {
	d := newDesk(t).as(t, "reader")
	_, body := d.get(t, "/console/tenants/acme/codes/code-1?at=2026-11-30T11:30:00&staff=cleo")
	for _, want := range []string{"<strong>cleo</strong> was on the list at", "Left", "off line", `value="2026-11-30T11:30:00"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the answer lacks %q", want)
		}
	}
	for _, want := range []string{"Push 32 was not taken:", "staff_changed", "4bf92f3577b34da6a3ce929d0e0e4736", "refused-push"} {
		if !strings.Contains(body, want) {
			t.Errorf("a refused push lacks %q", want)
		}
	}
	// Two things of one second are told apart by the addresses of the trail.
	_, body = d.get(t, "/console/tenants/acme/codes/code-1")
	if !strings.Contains(body, "?at=2026-11-30T03%3A40%3A00Z#past") {
		t.Error("an entry does not lead to its instant")
	}
	_, body = d.get(t, "/console/tenants/acme/codes/code-1?at=2026-11-30T03:39:59.999Z")
	if !strings.Contains(body, "at=2026-11-30T03%3A39%3A59.999Z&amp;staff=cleo#past") {
		t.Error("the list of an instant does not lead on to its members")
	}
	for _, at := range []string{"yesterday", "2027-01-01T00:00:00", "2026-13-01T00:00:00"} {
		if status, body := d.get(t, "/console/tenants/acme/codes/code-1?at="+at); status != http.StatusOK || !strings.Contains(body, "no instant of the past") {
			t.Errorf("at %s: %d", at, status)
		}
	}
}

func TestAskingWeComShowsWhatItHolds(t *testing.T) {
	d := newDesk(t).as(t, "writer")
	body := text(t, d.post(t, "/console/tenants/acme/codes/code-1"))
	if d.asked != 1 || !strings.Contains(body, "mallory") || !strings.Contains(body, "At WeCom") || strings.Contains(body, "/console/live?") {
		t.Errorf("asked %d times", d.asked)
	}
	if _, body := d.get(t, "/console/tenants/acme/codes/code-1"); d.asked != 1 || strings.Contains(body, "At WeCom") {
		t.Error("a look alone asks WeCom")
	}
}

func TestSearch(t *testing.T) {
	d := newDesk(t, func(w *world, _ *Options) { w.codes = append(w.codes, registry.Code{Code: roster.Code{ID: "code-10"}}) }).as(t, "reader")
	for q, want := range map[string]string{
		"acme/code-10": "/console/tenants/acme/codes/code-10", "code-10": "/console/tenants/acme/codes/code-10",
		"amy": "/console/tenants/acme/staff?id=amy", "globex": "/console/tenants/globex",
	} {
		answer := d.send(t, httptest.NewRequest(http.MethodGet, "https://rollcall.example/console/search?q="+q, http.NoBody))
		if got := answer.Header.Get("Location"); got != want {
			t.Errorf("%s leads to %q, want %q", q, got, want)
		}
	}
	if status, body := d.get(t, "/console/search?q=code-1"); status != http.StatusOK || !strings.Contains(body, "codes/code-10\"") {
		t.Errorf("a beginning: %d", status)
	}
	if status, body := d.get(t, "/console/search?q="+strings.Repeat("x", 150)); status != http.StatusOK || !strings.Contains(body, "No ID is like that") {
		t.Errorf("a long one: %d", status)
	}
}

// Somebody who was not looked for everywhere is not said to be nowhere.
func TestASearchOfManyTenantsSaysWhereItLooked(t *testing.T) {
	const told = "in the first 200 tenants only"
	d := newDesk(t, func(w *world, _ *Options) {
		for n := range maxSearched - len(w.tenants) {
			id := fmt.Sprintf("tenant-%d", n)
			w.tenants[id] = registry.Tenant{Tenant: roster.Tenant{ID: id}}
		}
	}).as(t, "reader")
	if _, body := d.get(t, "/console/search?q=nobody"); strings.Contains(body, told) {
		t.Error("all tenants were looked through, and the page says otherwise")
	}
	d.tenants["zenith"] = registry.Tenant{Tenant: roster.Tenant{ID: "zenith"}}
	for _, q := range []string{"nobody", "amy"} {
		if status, body := d.get(t, "/console/search?q="+q); status != http.StatusOK || !strings.Contains(body, told) {
			t.Errorf("%s: %d, and not told where it was looked for", q, status)
		}
	}
	if _, body := d.get(t, "/console/search?q=acme/nobody"); strings.Contains(body, told) {
		t.Error("one tenant was searched, and the page says otherwise")
	}
}

func TestParametersAreBounded(t *testing.T) {
	d := newDesk(t).as(t, "chief")
	for _, path := range []string{
		"/console/dirty?reason=nonsense", "/console/dirty?tenant=..%2F", "/console/tenants/a%20b", "/console/tenants/acme/staff?id=" + strings.Repeat("x", 100),
		"/console/tenants/acme/staff", "/console/tenants/acme/codes/" + strings.Repeat("x", 129), "/console/do/nonsense?tenant=acme",
		"/console/do/dirty-retry-all?tenant=acme&reason=nonsense", "/console/do/dirty-drop?tenant=acme", "/console/do/refresh", "/console/letter?id=nothing",
	} {
		if status, _ := d.get(t, path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
	if answer := d.post(t, "/console/do/refresh", "tenant", "acme", "why", strings.Repeat("x", maxForm)); answer.StatusCode == http.StatusOK || len(d.ordered) > 0 {
		t.Errorf("a form without an end: %s", answer.Status)
	}
}

func TestAStoreThatIsAway(t *testing.T) {
	d := newDesk(t).as(t, "acme")
	d.away = errors.New("dial mongodb.internal: refused")
	for _, path := range []string{"/console/dirty", "/console/tenants/acme", "/console/decisions"} {
		status, body := d.get(t, path)
		if status != http.StatusServiceUnavailable || strings.Contains(body, "mongodb.internal") {
			t.Errorf("%s: %d; or a tenant's person is told of our servers", path, status)
		}
	}
	if status, body := d.as(t, "chief").get(t, "/console/dirty"); status != http.StatusServiceUnavailable || !strings.Contains(body, "mongodb.internal") {
		t.Errorf("%d; an operator is not told why", status)
	}
}

func TestWithoutTheAdminAPI(t *testing.T) {
	d := newDesk(t, func(w *world, _ *Options) { w.unset = true }).as(t, "chief")
	if status, body := d.get(t, "/console/letters"); status != http.StatusOK || !strings.Contains(body, "ROLLCALL_PULSAR_ADMIN_URL") {
		t.Errorf("%d", status)
	}
}

func TestALookIsKept(t *testing.T) {
	d := newDesk(t).as(t, "reader")
	d.post(t, "/console/look", "lang", "zh", "next", "/console/dirty")
	answer := d.post(t, "/console/look", "theme", "dark", "next", "/console/dirty")
	if answer.Header.Get("Location") != "/console/dirty" {
		t.Errorf("leads to %q", answer.Header.Get("Location"))
	}
	if _, body := d.get(t, "/console/dirty"); !strings.Contains(body, `<html lang="zh-CN" data-theme="dark">`) {
		t.Error("the choice is lost")
	}
	d.post(t, "/console/look", "lang", "tlh", "theme", `"><script>`)
	if _, body := d.get(t, "/console/dirty"); !strings.Contains(body, `<html lang="zh-CN" data-theme="dark">`) {
		t.Error("nonsense is a choice")
	}
}

func TestPlotsAreNumbers(t *testing.T) {
	for _, most := range []int{0, 1, 7, 99, 12345} {
		u := use{Now: noon, Span: 24 * time.Hour, Zone: time.UTC, Lang: english, Limit: most}
		p := u.plot([]board.Minute{{At: noon.Add(-2 * time.Hour), Granted: most}, {At: noon.Add(-119 * time.Minute), Granted: most, Refused: 1}})
		if len(p.Ys) == 0 || len(p.Ys) > 8 || len(p.Xs) > 8 {
			t.Errorf("up to %d: %d and %d marks", most, len(p.Ys), len(p.Xs))
		}
		for _, b := range p.Bands {
			if b.Y < 0 || b.Height < 0 || b.Width <= 0 || b.X < float64(p.Left)-1 || b.X > float64(p.Right) {
				t.Errorf("up to %d: a bar at %+v", most, b)
			}
		}
	}
}

// known reasons alone are offered as a filter.
func TestAFilterOffersReasons(t *testing.T) {
	for _, why := range dirtyReasons {
		if !known(why) {
			t.Errorf("%s is no reason", why)
		}
	}
	if known(reason.Reason("nonsense")) {
		t.Error("nonsense is a reason")
	}
}
