package console

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestOrders(t *testing.T) {
	code := intervene.Subject{Kind: intervene.Code, Tenant: "acme", ID: "code-1"}
	staff := intervene.Subject{Kind: intervene.Staff, Tenant: "acme", ID: "amy"}
	tenant := intervene.Subject{Kind: intervene.Tenant, Tenant: "acme"}
	for path, test := range map[string]struct {
		values []string
		want   intervene.Order
	}{
		"refresh": {[]string{"code", "code-1", "repush", "yes"}, intervene.Order{Action: decision.Refresh, Subject: code, Repush: true}},
		"hold":    {[]string{"for", "4h"}, intervene.Order{Action: decision.Hold, Subject: tenant, Until: noon.Add(4 * time.Hour)}},
		"suspend": {[]string{"staff", "amy", "for", "open"}, intervene.Order{Action: decision.Suspend, Subject: staff}},
		"release": {[]string{"staff", "amy"}, intervene.Order{Action: decision.Release, Subject: staff}},
		"lane":    {[]string{"code", "code-1", "lane", "slow"}, intervene.Order{Action: decision.SetLane, Subject: code, Lane: roster.LaneSlow}},
	} {
		d := newDesk(t).as(t, "chief")
		answer := d.post(t, "/console/do/"+path, append(test.values, "tenant", "acme", "why", " a customer complains ")...)
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, answer.Status)
		}
		test.want.By, test.want.Why = "Li Na (token chief)", "a customer complains"
		if diff := cmp.Diff([]intervene.Order{test.want}, d.ordered); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		if _, body := d.get(t, "/console/decisions"); !strings.Contains(body, "a customer complains") || !strings.Contains(body, "Li Na (token chief)") {
			t.Errorf("%s is not in the book", path)
		}
	}
}

// What the question names is what is done, whatever else the address says.
func TestAnAddressDoesNotHideWhatIsDone(t *testing.T) {
	d := newDesk(t).as(t, "chief")
	for _, query := range []string{"&id=one-code", "&reason=one-code"} {
		if status, body := d.get(t, "/console/do/hold?tenant=acme"+query); status != http.StatusOK || strings.Contains(body, `wrap">one-code`) || strings.Contains(body, "· one-code") {
			t.Errorf("the hold of a tenant with %s: %d, and names something else", query, status)
		}
	}
	for _, what := range []string{"code", "staff"} { // too long for a name: it is not the tenant's then
		answer := d.post(t, "/console/do/hold", "tenant", "acme", what, strings.Repeat("x", 2*maxParam), "why", "x")
		if answer.StatusCode != http.StatusNotFound || len(d.ordered) > 0 {
			t.Errorf("a %s that cannot be: %s, %+v", what, answer.Status, d.ordered)
		}
	}
}

func TestWhatWouldDoHarmIsAskedAgain(t *testing.T) {
	d := newDesk(t, func(w *world, _ *Options) { w.harm = []intervene.Point{{What: intervene.NoEnd}} }).as(t, "chief")
	order := []string{"tenant", "acme", "for", "open", "why", "x"}
	if _, body := d.get(t, "/console/do/hold?tenant=acme"); !strings.Contains(body, "it has no end") || !strings.Contains(body, `name="anyway"`) {
		t.Error("the question does not say what speaks against it")
	}
	answer := d.post(t, "/console/do/hold", order...)
	if body := text(t, answer); answer.StatusCode != http.StatusConflict || len(d.ordered) > 0 || !strings.Contains(body, `value="open" selected`) || !strings.Contains(body, ">x</textarea>") {
		t.Errorf("without insisting: %s, %d orders", answer.Status, len(d.ordered))
	}
	if answer := d.post(t, "/console/do/hold", append(order, "anyway", "yes")...); answer.StatusCode != http.StatusOK || len(d.ordered) != 1 {
		t.Errorf("insisting: %s, %d orders", answer.Status, len(d.ordered))
	}
}

func TestAnActionThatCouldNotBeFinished(t *testing.T) {
	away, changed := errors.New("after 12 lists: dial mongodb.internal: refused"), fmt.Errorf("code-1: %w", dirty.ErrChanged)
	for _, test := range []struct {
		who   string
		err   error
		want  string
		wants bool
	}{
		{"chief", away, "mongodb.internal", true},
		{"acme", away, "mongodb.internal", false}, // a tenant's person is not told of our servers
		{"acme", away, "Not available just now", true},
		{"acme", changed, "finished meanwhile", true},
	} {
		d := newDesk(t, func(w *world, _ *Options) { w.broken = test.err }).as(t, test.who)
		answer := d.post(t, "/console/do/refresh", "tenant", "acme", "why", "x")
		body := text(t, answer)
		if answer.StatusCode != http.StatusConflict || strings.Contains(body, test.want) != test.wants || strings.Contains(body, "not done") {
			t.Errorf("%s of %v: %s; says %q: %t", test.who, test.err, answer.Status, test.want, !test.wants)
		}
		if _, body := d.get(t, "/console/decisions"); strings.Contains(body, "mongodb.internal") != (test.who == "chief") {
			t.Errorf("%s of %v: the book shows it to the wrong people", test.who, test.err)
		}
	}
}

func TestNothingToRelease(t *testing.T) {
	d := newDesk(t).as(t, "chief")
	if status, body := d.get(t, "/console/do/release?tenant=acme"); status != http.StatusOK || !strings.Contains(body, "Nothing is stopped there.") || strings.Contains(body, `<button class="primary">`) {
		t.Errorf("%d", status)
	}
}

func TestAnActionNeedsAReason(t *testing.T) {
	d := newDesk(t).as(t, "chief")
	for path := range deedsOf {
		to, query, _ := strings.Cut(path, "?")
		var values []string
		for pair := range strings.SplitSeq(query, "&") {
			name, value, _ := strings.Cut(pair, "=")
			values = append(values, name, value)
		}
		for _, why := range []string{"", "  ", strings.Repeat("x", 2000)} {
			if answer := d.post(t, to, append(values, "why", why)...); answer.StatusCode != http.StatusUnprocessableEntity {
				t.Errorf("%s with the reason %.5q: %s", path, why, answer.Status)
			}
		}
	}
	if len(d.decisions)+len(d.ordered) > 0 {
		t.Error("something was done without a reason")
	}
}

func TestDirtyCodesAndLettersAreDecidedUpon(t *testing.T) {
	for path, test := range map[string]struct {
		values []string
		want   decision.Action
	}{
		"dirty-retry":      {[]string{"tenant", "acme", "code", "code-1"}, decision.RetryDirty},
		"dirty-retry-all":  {[]string{"tenant", "acme", "reason", "blocked"}, decision.RetryDirty},
		"dirty-drop":       {[]string{"tenant", "acme", "code", "code-1"}, decision.DropDirty},
		"letter-republish": {[]string{"id", "12:3:0"}, decision.RepublishLetter},
		"letter-discard":   {[]string{"id", "12:3:0"}, decision.DiscardLetter},
	} {
		d := newDesk(t).as(t, "chief")
		answer := d.post(t, "/console/do/"+path, append(test.values, "why", "seen")...)
		if answer.StatusCode != http.StatusOK || len(d.decisions) != 1 {
			t.Errorf("%s: %s, %d decisions: %s", path, answer.Status, len(d.decisions), text(t, answer))
			continue
		}
		if got := d.decisions[0]; got.Action != test.want || got.By != "Li Na (token chief)" || got.Reason != "seen" || got.State != decision.Done {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func TestACodeThatIsDirtyNoMore(t *testing.T) {
	d := newDesk(t).as(t, "chief")
	if status, _ := d.get(t, "/console/do/dirty-drop?tenant=acme&code=code-7"); status != http.StatusNotFound {
		t.Errorf("%d", status)
	}
	answer := d.post(t, "/console/do/dirty-drop", "tenant", "acme", "code", "code-7", "why", "x")
	if answer.StatusCode != http.StatusNotFound || len(d.decisions) > 0 {
		t.Errorf("%s, %d decisions", answer.Status, len(d.decisions))
	}
}
