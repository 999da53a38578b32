package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Console is the operator's console in a browser, served by the ingress.
type Console struct {
	Keys        SealKeys      `envconfig:"ROLLCALL_CONSOLE_KEYS" accept:"keys" desc:"Seals the sessions of the console. Without it there is no console. The first key seals, all open: every ingress has the same, and a new one goes in front of the old. Not those of ROLLCALL_SEAL_KEYS."`
	Life        time.Duration `envconfig:"ROLLCALL_CONSOLE_LIFE" default:"8h" accept:"5m..168h" desc:"How long a session of the console lasts at most."`
	Idle        time.Duration `envconfig:"ROLLCALL_CONSOLE_IDLE" default:"1h" accept:"1m..168h" desc:"How long a session lasts without a page."`
	SignInRate  float64       `envconfig:"ROLLCALL_CONSOLE_SIGN_IN_RATE" default:"0.1" accept:"0.001..1000" desc:"How often one client address (of IPv6: one /64) may try to sign in, a second on average, in each process. ROLLCALL_DRAW_TRUSTED_PROXIES says whose word on it counts."`
	SignInBurst int           `envconfig:"ROLLCALL_CONSOLE_SIGN_IN_BURST" default:"10" accept:"1..10000" desc:"The same, at once."`
	Streams     int           `envconfig:"ROLLCALL_CONSOLE_STREAMS" default:"100" accept:"1..10000" desc:"Pages of the console with live figures, in each process."`
	ProxyHeader string        `envconfig:"ROLLCALL_CONSOLE_PROXY_HEADER" accept:"text" shown:"none" desc:"A proxy in front signs people in and names the person in this header, such as X-Forwarded-Email. It needs the secret and the roles too."`
	ProxyGroups string        `envconfig:"ROLLCALL_CONSOLE_PROXY_GROUPS" accept:"text" shown:"none" desc:"The header in which it names the person's groups, separated by commas."`
	ProxySecret Secret        `envconfig:"ROLLCALL_CONSOLE_PROXY_SECRET" accept:"text" desc:"What the proxy sends in X-Rollcall-Proxy-Secret to prove that it is the proxy; at least 16 characters."`
	ProxyRoles  Roles         `envconfig:"ROLLCALL_CONSOLE_PROXY_ROLES" accept:"roles" shown:"none" desc:"Who may do what, separated by commas: WHO=SCOPE+SCOPE or WHO=SCOPE@TENANT. WHO is a person, group:NAME, or * for everybody; a person's own role comes before his groups', and these before everybody's. SCOPE is read, write or admin."`
}

// Role is what a person or a group may do.
type Role struct {
	Who    string
	Scopes []string
	Tenant string // "" is all
}

// Roles are read from WHO=SCOPE+SCOPE@TENANT, separated by commas.
type Roles []Role

// UnmarshalText reads roles.
func (r *Roles) UnmarshalText(text []byte) error {
	*r = nil
	for word := range strings.SplitSeq(string(text), ",") {
		who, what, found := strings.Cut(strings.TrimSpace(word), "=")
		scopes, tenant, _ := strings.Cut(what, "@")
		role := Role{Who: who, Scopes: strings.Split(scopes, "+"), Tenant: tenant}
		if !found || who == "" || strings.HasSuffix(what, "@") {
			return &valueError{"holds something that is not WHO=SCOPE or WHO=SCOPE@TENANT"}
		}
		for _, scope := range role.Scopes {
			if !slices.Contains([]string{"read", "write", "admin"}, scope) {
				return &valueError{fmt.Sprintf("holds the scope %q, which is not read, write or admin", scope)}
			}
		}
		*r = append(*r, role)
	}
	return nil
}

// minProxySecret is the least characters of the proxy's secret.
const minProxySecret = 16

// rules are those of the console: half a proxy lets in nobody, or anybody.
func (c Console) rules() []contradiction {
	proxied := c.ProxyHeader != ""
	return []contradiction{
		{
			names:   []string{"ROLLCALL_CONSOLE_PROXY_SECRET", "ROLLCALL_CONSOLE_PROXY_HEADER"},
			broken:  c.ProxySecret.Set() != proxied,
			because: "a proxy that signs people in needs both",
		},
		{
			names:   []string{"ROLLCALL_CONSOLE_PROXY_ROLES", "ROLLCALL_CONSOLE_PROXY_HEADER"},
			broken:  (len(c.ProxyRoles) > 0) != proxied,
			because: "a proxy that signs people in needs both",
		},
		{
			names:   []string{"ROLLCALL_CONSOLE_PROXY_GROUPS", "ROLLCALL_CONSOLE_PROXY_HEADER"},
			broken:  c.ProxyGroups != "" && !proxied,
			because: "groups are of a person whom the proxy names",
		},
		{
			names:   []string{"ROLLCALL_CONSOLE_PROXY_HEADER", "ROLLCALL_CONSOLE_KEYS"},
			broken:  proxied && c.Keys.Ring().Sealing() == "",
			because: "without a key there is no console",
		},
		{
			names:   []string{"ROLLCALL_CONSOLE_PROXY_SECRET"},
			broken:  c.ProxySecret.Set() && len(c.ProxySecret.Reveal()) < minProxySecret,
			because: fmt.Sprintf("at least %d characters", minProxySecret),
		},
		{
			names:   []string{"ROLLCALL_CONSOLE_IDLE", "ROLLCALL_CONSOLE_LIFE"},
			broken:  c.Idle > c.Life,
			because: "a session would be idle for longer than it lasts",
		},
	}
}
