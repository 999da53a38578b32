package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/access"
)

// SecretHeader proves that a request came through the proxy.
const SecretHeader = "X-Rollcall-Proxy-Secret" //nolint:gosec // G101: a header's name

// Proxy is a proxy in front that signs people in. All but GroupsHeader are
// required.
type Proxy struct {
	Header       string // names the person: X-Forwarded-Email
	GroupsHeader string // names his groups, separated by commas; "" is none
	Secret       string // of SecretHeader
	Roles        []Role
}

// Role is what a person, or a group, may do.
type Role struct {
	Who    string // a person, "group:NAME", or "*" for everybody
	Tenant string // "" reaches all tenants
	Scopes []access.Scope
}

// maxPerson is the most bytes of a person's name.
const maxPerson = 100

// vouches reports whether a request came through the proxy.
func (p *Proxy) vouches(r *http.Request) bool {
	if p == nil {
		return false
	}
	got, want := sha256.Sum256([]byte(r.Header.Get(SecretHeader))), sha256.Sum256([]byte(p.Secret))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// person returns whom the proxy has signed in; false when it says nobody, or
// several.
func (p *Proxy) person(r *http.Request) (string, bool) {
	values := r.Header.Values(p.Header)
	if len(values) != 1 {
		return "", false
	}
	name := nameOf(values[0], maxPerson)
	return name, name != "" && name == strings.TrimSpace(values[0])
}

// byGroup begins a Who that is a group.
const byGroup = "group:"

// grant is that of the first role that names the person, else of the first that
// names one of his groups, else of everybody's. Where people choose their names,
// one who calls himself group:sre is nobody of that group.
func (p *Proxy) grant(r *http.Request, person string) (access.Grant, bool) {
	groups := map[string]bool{}
	if p.GroupsHeader != "" {
		for _, group := range strings.Split(strings.Join(r.Header.Values(p.GroupsHeader), ","), ",") {
			groups[byGroup+strings.TrimSpace(group)] = true
		}
	}
	for _, names := range []func(string) bool{
		func(who string) bool { return who == person && !strings.HasPrefix(who, byGroup) },
		func(who string) bool { return groups[who] },
		func(who string) bool { return who == "*" },
	} {
		for _, role := range p.Roles {
			if names(role.Who) {
				return access.Grant{Token: "proxy:" + person, Tenant: role.Tenant, Scopes: role.Scopes}, true
			}
		}
	}
	return access.Grant{}, false
}

// recognizeProxied takes the proxy's word for who asks. The session is there for
// forms alone: it is another one for another person.
func (c *Console) recognizeProxied(v *visit, signed session) error {
	person, named := c.opts.Proxy.person(v.Request)
	if !named {
		return refusal{http.StatusForbidden, "error.nobody", ""}
	}
	grant, has := c.opts.Proxy.grant(v.Request, person)
	if !has {
		return refusal{http.StatusForbidden, "error.role", person}
	}
	if signed.Person != person {
		signed = newSession(v.now)
		signed.Person = person
		if err := c.keep(v.w, v.Request, signed); err != nil {
			return err
		}
	}
	v.session, v.grant, v.by = signed, grant, person
	return nil
}
