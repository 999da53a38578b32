package httpapi_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/access"
)

// Every route of the document, with every scope, for the tenant of the token,
// for another, and for a token of all tenants. A new route is in here by itself.
func TestWalls(t *testing.T) {
	reaches := map[string]struct {
		tenant  string // of the token; the path's is acme
		reached bool
	}{
		"own tenant":   {"acme", true},
		"other tenant": {"globex", false},
		"all tenants":  {"", true},
	}
	for _, o := range theContract(t).operations {
		if o.scope == "" {
			continue
		}
		for who, reach := range reaches {
			for _, scope := range access.Scopes() {
				t.Run(fmt.Sprintf("%s/%s/%s", o, who, scope), func(t *testing.T) {
					r := newRig(t)
					r.tokens["t"] = access.Grant{Token: "t", Tenant: reach.tenant, Scopes: []access.Scope{scope}}
					want, code := 200, ""
					switch {
					case !reach.reached:
						want, code = 404, "unknown_tenant"
					case string(scope) != o.scope:
						want, code = 403, "scope_missing"
					}
					// That such answers are as the document says is tested elsewhere.
					got := serve(r, o.call("t"))
					if got.status != want || code != "" && into[problem](t, got).Code != code {
						t.Errorf("answers %d %s, want %d %s", got.status, got.body, want, code)
					}
				})
			}
		}
	}
}

// Whoever asks for another tenant's cannot tell it from what is not there, and
// whoever writes it changes nothing.
func TestAnotherTenantIsNotThere(t *testing.T) {
	for _, o := range theContract(t).operations {
		if o.scope == "" {
			continue
		}
		t.Run(o.String(), func(t *testing.T) {
			r := newRig(t)
			there, missing := o.parameters["tenant"], "no-such-tenant"
			c := o.call(globexOnly)
			theirs := serve(r, c)
			c.path = o.at(map[string]string{"tenant": missing})
			for name, value := range o.parameters {
				if name != "tenant" {
					c.path = operation{path: c.path}.at(map[string]string{name: value})
				}
			}
			nobodys := serve(r, c)
			if theirs.status != 404 {
				t.Errorf("tenant %s, which is another's, answers %d %s", there, theirs.status, theirs.body)
			}
			if diff := cmp.Diff(nobodys, theirs, cmp.AllowUnexported(reply{})); diff != "" {
				t.Errorf("(-not there +another's):\n%s", diff)
			}
			if len(r.events.sent)+len(r.fanOuts.requested) > 0 {
				t.Errorf("announced: %q %q", r.events.sent, r.fanOuts.requested)
			}
		})
	}
}

// Codes are named over all tenants: a path within the own tenant that names
// another's code finds nothing.
func TestAnotherTenantsCodeUnderTheOwnTenant(t *testing.T) {
	for _, o := range theContract(t).operations {
		if o.parameters["code"] == "" {
			continue
		}
		t.Run(o.String(), func(t *testing.T) {
			r := newRig(t)
			c := o.call(acmeOnly)
			c.path = o.at(map[string]string{"tenant": "acme", "code": "theirs"})
			status, code := 404, "unknown_code"
			if o.method == "PUT" && o.path == "/v1/tenants/{tenant}/codes/{code}" {
				status, code = 409, "code_taken"
			}
			r.wantProblem(t, c, status, code)
			theirs := into[shown](t, r.want(t, get("/v1/tenants/globex/codes/theirs"), 200))
			if theirs.Facts["config_id"] != "cfg-2" || theirs.State["revision"] != 0.0 {
				t.Errorf("it is changed: %v %v", theirs.Facts, theirs.State)
			}
			if len(r.events.sent) > 0 {
				t.Errorf("published: %q", r.events.sent)
			}
		})
	}
}

// A fan-out of another tenant is not there, although its ID is known.
func TestAnotherTenantsFanOut(t *testing.T) {
	r := newRig(t)
	r.wantProblem(t, call{method: "GET", path: "/v1/tenants/globex/fanouts/acme", token: globexOnly}, 404, "unknown_fan_out")
}
