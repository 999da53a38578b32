package access

import "slices"

// Scope is one kind of thing that a token allows. The scopes do not include
// each other.
type Scope string

// The scopes.
const (
	Read  Scope = "read"  // look at facts and progress
	Write Scope = "write" // change facts
	Draw  Scope = "draw"  // take the next member for a customer
	Admin Scope = "admin" // credentials, tokens, operator's switches
)

// Grant is what a request may do.
type Grant struct {
	// Token names the token, for logs and audits; it is not the secret.
	Token string
	// Tenant is the only tenant that the grant reaches; "" reaches all.
	Tenant string
	Scopes []Scope
}

// Allows reports whether the grant covers a scope for a tenant.
func (g Grant) Allows(scope Scope, tenant string) bool {
	return g.Reaches(tenant) && slices.Contains(g.Scopes, scope)
}

// Reaches reports whether the grant is about the tenant at all. Who is not
// reached learns nothing of the tenant, not even whether it exists.
func (g Grant) Reaches(tenant string) bool { return g.Tenant == "" || g.Tenant == tenant }
