package console

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/access"
)

// proxied is a desk behind a proxy that signs people in.
func proxied(t *testing.T, headers ...string) *desk {
	t.Helper()
	d := newDesk(t, func(_ *world, o *Options) {
		o.Proxy = &Proxy{Header: "X-Forwarded-Email", GroupsHeader: "X-Forwarded-Groups", Secret: "sixteen letters!", Roles: []Role{
			{Who: "li.na@example.com", Scopes: []access.Scope{access.Read, access.Write}},
			{Who: "group:support", Tenant: "acme", Scopes: []access.Scope{access.Read}},
			{Who: "*", Scopes: []access.Scope{access.Draw}},
		}}
	})
	for i := 0; i+1 < len(headers); i += 2 {
		d.header.Add(headers[i], headers[i+1])
	}
	return d
}

func TestWhomTheProxyNames(t *testing.T) {
	proof := []string{SecretHeader, "sixteen letters!"}
	for name, test := range map[string]struct {
		headers []string
		path    string
		want    int
	}{
		"a person":                  {append(proof, "X-Forwarded-Email", "li.na@example.com"), "/console/", http.StatusOK},
		"a group's tenant":          {append(proof, "X-Forwarded-Email", "bo@example.com", "X-Forwarded-Groups", "staff, support"), "/console/tenants/acme", http.StatusOK},
		"a group's wall":            {append(proof, "X-Forwarded-Email", "bo@example.com", "X-Forwarded-Groups", "support"), "/console/tenants/globex", http.StatusNotFound},
		"anybody may not read here": {append(proof, "X-Forwarded-Email", "eve@example.com"), "/console/dirty", http.StatusForbidden},
		"a person named as a group": {append(proof, "X-Forwarded-Email", "group:support"), "/console/tenants/acme", http.StatusForbidden},
		"nobody":                    {proof, "/console/dirty", http.StatusForbidden},
		"two people":                {append(proof, "X-Forwarded-Email", "li.na@example.com", "X-Forwarded-Email", "eve@example.com"), "/console/dirty", http.StatusForbidden},
		"without the proof":         {[]string{"X-Forwarded-Email", "li.na@example.com"}, "/console/dirty", http.StatusSeeOther},
		"with a wrong proof":        {[]string{"X-Forwarded-Email", "li.na@example.com", SecretHeader, "sixteen letters?"}, "/console/dirty", http.StatusSeeOther},
		"with an empty proof":       {[]string{"X-Forwarded-Email", "li.na@example.com", SecretHeader, ""}, "/console/dirty", http.StatusSeeOther},
	} {
		if status, _ := proxied(t, test.headers...).get(t, test.path); status != test.want {
			t.Errorf("%s: %d, want %d", name, status, test.want)
		}
	}
}

func TestAProxiedPersonDecides(t *testing.T) {
	d := proxied(t, SecretHeader, "sixteen letters!", "X-Forwarded-Email", "li.na@example.com")
	order := []string{"tenant", "acme", "why", "x"}
	if answer := d.post(t, "/console/do/refresh", order...); answer.StatusCode != http.StatusForbidden {
		t.Errorf("without a form of ours: %s", answer.Status)
	}
	if _, body := d.get(t, "/console/decisions"); strings.Contains(body, "/console/signout") {
		t.Error("a sign-out is offered, and the proxy signs the person in again at once")
	}
	d.get(t, "/console/do/refresh?tenant=acme") // has a form
	if answer := d.post(t, "/console/do/refresh", order...); answer.StatusCode != http.StatusOK || len(d.ordered) != 1 || d.ordered[0].By != "li.na@example.com" {
		t.Errorf("%s, %+v", answer.Status, d.ordered)
	}
	// The session is for forms: it opens nothing without the proxy, and nothing for
	// another person.
	d.header.Del(SecretHeader)
	if status, _ := d.get(t, "/console/dirty"); status != http.StatusSeeOther {
		t.Errorf("the cookie alone: %d", status)
	}
	d.header.Set(SecretHeader, "sixteen letters!")
	d.header.Set("X-Forwarded-Email", "bo@example.com")
	d.header.Set("X-Forwarded-Groups", "support")
	const session = "__Host-rollcall_console"
	before := d.cookies[session]
	if status, body := d.get(t, "/console/tenants/acme"); status != http.StatusOK || strings.Contains(body, "li.na") {
		t.Errorf("another person: %d", status)
	}
	if d.cookies[session] == before {
		t.Error("another person has the same session, and its forms")
	}
}

func TestNoProxyIsNobodysWord(t *testing.T) {
	d := newDesk(t)
	d.header.Set(SecretHeader, "")
	d.header.Set("X-Forwarded-Email", "li.na@example.com")
	if status, _ := d.get(t, "/console/dirty"); status != http.StatusSeeOther {
		t.Errorf("%d", status)
	}
}
