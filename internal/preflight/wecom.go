package preflight

import (
	"context"
	"fmt"
	"time"
)

// Vendor is WeCom.
type Vendor interface {
	// Greet makes a call without credentials; any answer of WeCom's will do.
	Greet(ctx context.Context) (Greeting, error)
	// Try gets an access token for a tenant and reads one thing with it.
	Try(ctx context.Context, tenant string) (Tried, error)
}

// Greeting is an answer to a call without credentials.
type Greeting struct {
	Address string // of ours, as WeCom sees it; "" when it did not say
	Clock   Reading
	Took    time.Duration
}

// Tried is what WeCom answers to a tenant's credentials.
type Tried struct {
	Step    string // what was refused: "gettoken" or the read; "" when nothing was
	ErrCode int
	Message string
	Address string // that is not trusted, with 60020
	Ways    int    // contact ways on the first page
}

// Tenants is what the store knows of one tenant.
type Tenants interface {
	// Callback reports whether there are callback settings that open.
	Callback(ctx context.Context, tenant string) (bool, error)
}

// vendor looks at WeCom.
type vendor struct {
	Vendor
	base   string
	margin time.Duration
}

// WeComChecks are the checks of WeCom at a base URL; margin is the one for
// clocks.
func WeComChecks(v Vendor, base string, margin time.Duration) []Check {
	w := vendor{v, base, margin}
	return []Check{
		{Name: "wecom.reach", Look: w.reach},
		{Name: "wecom.clock", After: []string{"wecom.reach"}, Look: w.clock},
	}
}

// TenantChecks are those of one tenant; they follow on the checks of MongoDB and
// WeCom.
func TenantChecks(v Vendor, tenants Tenants, tenant string) []Check {
	return []Check{
		{Name: "tenant.credentials", After: []string{"mongodb.reach", "wecom.reach"}, Look: func(ctx context.Context) Finding {
			tried, err := v.Try(ctx, tenant)
			if err != nil {
				return fail(err.Error(), "if it has no credentials, set its corp ID and secret: docs/facts.md; otherwise WeCom did not answer as it should, and they may be right")
			}
			return credentials(tried)
		}},
		{Name: "tenant.callback", After: []string{"mongodb.reach"}, Look: func(ctx context.Context) Finding {
			set, err := tenants.Callback(ctx, tenant)
			switch {
			case err != nil:
				return fail(err.Error(), "docs/secrets.md, \"When a secret does not open\"")
			case !set:
				return warn("no callback settings: additions are not counted, so ceilings are not kept", "set token, EncodingAESKey and receive ID: docs/quota.md")
			}
			return ok("token, key and receive ID are there and open")
		}},
	}
}

func (w vendor) reach(ctx context.Context) Finding {
	g, err := w.Greet(ctx)
	if err != nil {
		return fail(err.Error(), "see ROLLCALL_WECOM_BASE_URL, the proxy variables and the way out of the network")
	}
	return greeted(g, w.base)
}

// slowAnswer is what one exchange without any work may take.
const slowAnswer = time.Second

func greeted(g Greeting, base string) Finding {
	found := fmt.Sprintf("%s answers after %s", base, round(g.Took))
	if g.Address != "" {
		found += "; it sees us as " + g.Address + ", which has to be among the trusted addresses of each app"
	}
	if g.Took > slowAnswer {
		return warn(found, "look for a slow proxy or name server: each push waits for as long")
	}
	return ok(found)
}

func (w vendor) clock(ctx context.Context) Finding {
	g, err := w.Greet(ctx)
	if err != nil {
		return fail(err.Error(), "see wecom.reach")
	}
	return clock(g.Clock, w.margin)
}

// credentials judges WeCom's answer to a tenant's credentials.
func credentials(t Tried) Finding {
	if t.Step == "" {
		return ok(fmt.Sprintf("accepted, and the app may see contact ways (%d on the first page)", t.Ways))
	}
	found := fmt.Sprintf("%s: errcode %d, %s", t.Step, t.ErrCode, t.Message)
	remedies := map[int]string{
		40001: "the secret is wrong: set it again (a wrong one that is repeated gets the address blocked)",
		40013: "the corp ID is wrong: set it again",
		41004: "the secret is empty: set it",
		48002: "the app may not call this API: give it the customer contact permission",
		50003: "the app is disabled: enable it",
		60020: "add the address to the app's trusted addresses",
	}
	if t.ErrCode == 60020 && t.Address != "" {
		found = fmt.Sprintf("%s: the address %s is not trusted (60020)", t.Step, t.Address)
	}
	remedy, known := remedies[t.ErrCode]
	if !known {
		remedy = "look the code up in WeCom's list of global error codes"
	}
	return fail(found, remedy)
}
