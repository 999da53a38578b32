package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/httpapi"
	"github.com/rollcall-dev/rollcall/internal/ratelimit"
)

func TestWhoIsLetIn(t *testing.T) {
	for name, test := range map[string]struct {
		authorization string
		status        int
		code          string
	}{
		"nobody":          {"", 401, "no_token"},
		"a password":      {"Basic YTpi", 401, "no_token"},
		"no token at all": {"Bearer ", 401, "no_token"},
		"a stranger":      {"Bearer rc_stranger", 401, "bad_token"},
		"too late":        {"Bearer " + expired, 401, "bad_token"},
		"perhaps":         {"Bearer " + storeAway, 503, "unavailable"},
		"a token":         {"Bearer " + everything, 200, ""},
		"in lower case":   {"bearer " + everything, 200, ""},
		"without a scope": {"Bearer " + nothing, 403, "scope_missing"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			got := r.do(t, call{method: "GET", path: acme, authorization: test.authorization})
			if got.status != test.status {
				t.Fatalf("answers %d %s, want %d", got.status, got.body, test.status)
			}
			if test.code != "" && into[problem](t, got).Code != test.code {
				t.Errorf("answers %s, want %s", got.body, test.code)
			}
			if challenge := got.header.Get("WWW-Authenticate") != ""; challenge != (test.status == 401) {
				t.Errorf("WWW-Authenticate: %q", got.header.Get("WWW-Authenticate"))
			}
			if strings.Contains(string(got.body)+r.logged.String(), "hunter2") {
				t.Errorf("a password is shown: %s %s", got.body, r.logged)
			}
		})
	}
}

// One token's pace is not another's.
func TestThePaceOfAToken(t *testing.T) {
	r := newPacedRig(t, ratelimit.Limit{PerSecond: 0.001, Burst: 2})
	for range 2 {
		r.want(t, get(acme), 200)
	}
	got := r.do(t, get(acme))
	if p := into[problem](t, got); got.status != 429 || p.Code != "too_many_requests" || got.header.Get("Retry-After") == "" {
		t.Errorf("answers %d %s, Retry-After %q", got.status, got.body, got.header.Get("Retry-After"))
	}
	r.want(t, call{method: "GET", path: acme, token: acmeOnly}, 200)
}

// The gate by itself puts the grant where the draw finds it.
func TestTheGateGivesTheGrant(t *testing.T) {
	r := newRig(t)
	var grant access.Grant
	gate := httpapi.NewGate(r.tokens, ratelimit.Limit{PerSecond: 1, Burst: 1}, r.observed)
	behind := gate.Authenticate(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { grant, _ = access.GrantFrom(r.Context()) }))
	if got := send(t, behind, call{method: "POST", path: "/v1/draw/c-1", token: acmeOnly}); got.status != 200 {
		t.Fatalf("answers %d %s", got.status, got.body)
	}
	if grant.Token != acmeOnly || grant.Tenant != "acme" {
		t.Errorf("grant %+v", grant)
	}
	if _, ok := access.GrantFrom(t.Context()); ok {
		t.Error("a context without a grant has one")
	}
}

// A panic is a 500 and is counted; the next request is served.
func TestAPanicIsABug(t *testing.T) {
	r := newRig(t)
	r.events.before = func() { panic("a bug with the secret hunter2") }
	got := r.do(t, put(acme+"/codes/c-1/switches", `{}`))
	if p := into[problem](t, got); got.status != 500 || p.Code != "panicked" || strings.Contains(string(got.body), "hunter2") {
		t.Errorf("answers %d %s", got.status, got.body)
	}
	if !slices.Contains(r.observed.refused, "panicked") || !strings.Contains(r.logged.String(), "a request panicked") {
		t.Errorf("counted %v, logged %s", r.observed.refused, r.logged)
	}
	r.want(t, get(acme), 200)
}

// A store that fails is told to the operator and not to the client.
func TestAStoreThatIsAway(t *testing.T) {
	r := newRig(t)
	r.facts.Fail = func() error { return errAway }
	p := r.wantProblem(t, get(acme), 503, "unavailable")
	if strings.Contains(p.Detail, "mongodb") || !strings.Contains(r.logged.String(), "a request failed") {
		t.Errorf("told %q, logged %q", p.Detail, r.logged)
	}
}

func TestWhatIsObserved(t *testing.T) {
	r := newRig(t)
	r.do(t, get(acme))
	r.do(t, get("/v1/none"))
	r.do(t, call{method: "GET", path: acme})
	want := []string{"GET /v1/tenants/{tenant} OK", "none Not Found", "GET /v1/tenants/{tenant} Unauthorized"}
	if !slices.Equal(r.observed.answered, want) {
		t.Errorf("answered %q, want %q", r.observed.answered, want)
	}
	if want := []string{"no_such_route", "no_token"}; !slices.Equal(r.observed.refused, want) {
		t.Errorf("refused %q, want %q", r.observed.refused, want)
	}
}

// The operator's log has who wrote what, and no facts.
func TestWritesAreLogged(t *testing.T) {
	r := newRig(t)
	r.want(t, call{method: "PUT", path: acme + "/credentials", token: acmeOnly, body: `{"corp_id":"ww1","secret":"hunter2"}`}, 200)
	r.want(t, get(acme), 200)
	got := r.logged.String()
	if strings.Count(got, "facts written") != 1 || !strings.Contains(got, "token="+acmeOnly) || !strings.Contains(got, "path=/v1/tenants/acme/credentials") || strings.Contains(got, "hunter2") {
		t.Errorf("logged %s", got)
	}
}
