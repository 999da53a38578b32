package httpapi_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/pkg/oldpush"
)

func pushedTo(code, body string) call {
	return call{method: "POST", path: acme + "/codes/" + code + "/pushed", token: everything, body: body}
}

func TestWhatBecomesOfAReport(t *testing.T) {
	r := newRig(t)
	r.shadows.PutCode(push.Ref{Tenant: "acme", Code: "live"}, shadow.Mode{})
	for _, tc := range []struct{ code, body, want string }{
		{"c-1", `{"users":["b","a"],"at":"2026-11-30T19:59:30+08:00"}`, "recorded"},
		{"c-1", `{"users":["a","b"],"at":"2026-11-30T11:59:31Z"}`, "repeated"},
		{"c-1", `{"users":["a"],"at":"2026-11-30T11:59:30.5Z","note":"late"}`, "outdated"},
		{"c-1", `{"users":["a"],"at":"2026-11-30T11:59:31.5Z"}`, "recorded"},
		{"live", `{"users":["a"],"at":"2026-11-30T11:59:31Z"}`, "not_in_shadow"},
	} {
		got := into[struct{ Outcome string }](t, r.want(t, pushedTo(tc.code, tc.body), 200))
		if got.Outcome != tc.want {
			t.Errorf("%s %s: %q, want %q", tc.code, tc.body, got.Outcome, tc.want)
		}
	}
	states, err := r.shadows.States(t.Context(), "acme", []string{"c-1", "live"})
	want := shadow.Reported{Members: []string{"a"}, At: noon.Add(-28500 * time.Millisecond), Source: shadow.Report}
	if diff := cmp.Diff(want, states["c-1"].Theirs); diff != "" || len(states) != 1 || err != nil {
		t.Errorf("%d stored, %v (-want +got):\n%s", len(states), err, diff)
	}
}

func TestReportsThatAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		send   call
		status int
		want   problem
	}{
		"nobody":          {pushedTo("c-1", `{"users":[],"at":"2026-11-30T11:59:30Z"}`), 422, problem{Code: "invalid_fact", Field: "users", Value: "0 entries", Want: "1 to 100 staff IDs, as WeCom was sent them"}},
		"no instant":      {pushedTo("c-1", `{"users":["a"]}`), 422, problem{Code: "invalid_fact", Field: "at", Want: "the instant of the push, as RFC 3339 writes it"}},
		"another instant": {pushedTo("c-1", `{"users":["a"],"at":"today"}`), 422, problem{Code: "invalid_fact", Field: "at", Value: "today", Want: "the instant of the push, as RFC 3339 writes it"}},
		"of next year":    {pushedTo("c-1", `{"users":["a"],"at":"2027-11-30T11:59:30Z"}`), 422, problem{Code: "invalid_fact", Field: "at", Value: "2027-11-30T11:59:30Z", Want: "an instant that has come; the clock may be 5 minutes ahead"}},
		"a mistyped one":  {pushedTo("c-1", `{"user":["a"],"at":"2026-11-30T11:59:30Z"}`), 400, problem{Code: "unknown_field", Field: "user", Want: "users"}},
		"no such code":    {pushedTo("c-9", `{"users":["a"],"at":"2026-11-30T11:59:30Z"}`), 404, problem{Code: "unknown_code"}},
		"no such tenant":  {call{method: "POST", path: "/v1/tenants/nobody/codes/c-1/pushed", token: everything, body: `{"users":["a"],"at":"2026-11-30T11:59:30Z"}`}, 404, problem{Code: "unknown_tenant"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := newRig(t).wantProblem(t, tc.send, tc.status, tc.want.Code)
			got.Detail = ""
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReportsOfManyCodes(t *testing.T) {
	r := newRig(t)
	r.shadows.PutCode(push.Ref{Tenant: "acme", Code: "c-2"}, shadow.Mode{Shadow: true})
	r.shadows.PutCode(push.Ref{Tenant: "acme", Code: "live"}, shadow.Mode{})
	line := func(code, at string) string { return `{"code":"` + code + `","users":["a"],"at":"` + at + `"}` }
	const then = "2026-11-30T11:00:00Z"
	p := r.wantProblem(t, importOf("pushed", line("c-1", then), line("live", then), line("c-2", then), line("c-9", then), line("c-1", "soon"), line("c-1", then)), 422, "lines_refused")
	want := imported{
		LastLine: 6, Stored: 2, Unchanged: 1, Refused: 3,
		Errors: []lineError{{Line: 2, Code: "not_in_shadow"}, {Line: 4, Code: "unknown_code"}, {
			Line: 5, Code: "invalid_fact", Field: "at", Want: "the instant of the push, as RFC 3339 writes it",
		}},
	}
	if diff := cmp.Diff(want, *p.Import); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.shadows.Fail = func() error { return errAway }
	r.wantProblem(t, importOf("pushed", line("c-1", then)), 503, "import_stopped")
}

func TestTheReportOfATenant(t *testing.T) {
	r := newRig(t)
	r.want(t, pushedTo("c-1", `{"users":["a"],"at":"2026-11-30T11:59:30Z"}`), 200)
	got := into[shadow.Readiness](t, r.want(t, get(acme+"/migration"), 200))
	if got.Tenant != "acme" || got.Ready || got.Codes.Reported != 1 || len(got.Because) != 2 || len(got.Days) != 13 {
		t.Errorf("%+v", got)
	}
	r.shadows.Fail = func() error { return errAway }
	r.wantProblem(t, get(acme+"/migration"), 503, "unavailable")
	r.wantProblem(t, pushedTo("c-1", `{"users":["a"],"at":"2026-11-30T11:59:30Z"}`), 503, "unavailable")
}

// served answers requests by a handler: the rig's clock stands still, so its
// deadlines would end real connections.
type served struct{ http.Handler }

func (s served) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// What old systems report with the package made for them arrives.
func TestOldSystemsReportWithTheirPackage(t *testing.T) {
	r := newRig(t)
	reporter, err := oldpush.New(oldpush.Options{
		URL: "http://rollcall.example.com", Token: func() string { return acmeOnly }, Client: &http.Client{Transport: served{r}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []oldpush.Outcome{oldpush.Recorded, oldpush.Repeated} {
		if got, err := reporter.Report(t.Context(), "acme", "c-1", []string{"b", "a"}, noon, "a note"); got != want || err != nil {
			t.Errorf("Report = %q, %v; want %q", got, err, want)
		}
	}
	err = reporter.Pushed(t.Context(), "acme", "c-9", []string{"a"}, noon)
	if refused, ok := errors.AsType[*oldpush.StatusError](err); !ok || refused.Code != "unknown_code" {
		t.Errorf("Pushed of an unknown code = %v", err)
	}
	states, err := r.shadows.States(t.Context(), "acme", []string{"c-1"})
	want := shadow.Reported{Members: []string{"a", "b"}, At: noon, Source: shadow.Report, Note: "a note"}
	if diff := cmp.Diff(want, states["c-1"].Theirs); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
