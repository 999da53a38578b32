package wecom

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/recent"
)

// TokensOptions tunes Tokens. Zero values take the default.
type TokensOptions struct {
	// Store shares tokens between instances; default a MemoryStore. If it is a
	// RefusalStore as well, refusals are shared too.
	Store TokenStore
	// RefreshBefore is how long before its end a token is replaced, plus up to
	// RefreshJitter, drawn anew for each token; default 5 min each.
	RefreshBefore time.Duration
	RefreshJitter time.Duration
	// FetchTimeout bounds the fetching of a token by whatever way, waiting for
	// another instance included; default 15 s. It is also the time a lease is
	// asked for.
	FetchTimeout time.Duration
	// StoreTimeout bounds one operation of the store; default 500 ms.
	StoreTimeout time.Duration
	// WaitForOther is how long to wait for another instance's fetch before
	// fetching as well; default 3 s.
	WaitForOther time.Duration
	// RefusalDelay is how long an account is left alone after WeCom refused
	// it; it doubles with each refusal in a row up to MaxRefusalDelay. Default
	// 1 min and 1 h. WeCom blocks the address of who repeats a bad secret.
	RefusalDelay    time.Duration
	MaxRefusalDelay time.Duration
	// MaxTenants bounds the tenants whose token is kept in the process, about
	// 600 B each; default 65 536.
	MaxTenants int
	// Rand returns a number in [0, 1); default math/rand/v2.
	Rand func() float64
}

func (o TokensOptions) withDefaults(now func() time.Time) TokensOptions {
	o.RefreshBefore = orDefault(o.RefreshBefore, 5*time.Minute)
	o.RefreshJitter = orDefault(o.RefreshJitter, 5*time.Minute)
	o.FetchTimeout = orDefault(o.FetchTimeout, 15*time.Second)
	o.StoreTimeout = orDefault(o.StoreTimeout, 500*time.Millisecond)
	o.WaitForOther = orDefault(o.WaitForOther, 3*time.Second)
	o.RefusalDelay = orDefault(o.RefusalDelay, time.Minute)
	o.MaxRefusalDelay = orDefault(o.MaxRefusalDelay, time.Hour)
	o.MaxTenants = orDefault(o.MaxTenants, 1<<16)
	if o.Store == nil {
		o.Store = NewMemoryStore(now)
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return o
}

// Tokens is a TokenSource that fetches one token a tenant and shares it: among
// goroutines, of which one fetches while the others wait, and among instances
// through a store, whose lease does the same there. A store that fails costs
// extra fetches, nothing else. An account that WeCom refuses is left alone for
// a growing time. It is safe for concurrent use.
type Tokens struct {
	endpoint    *Endpoint
	credentials Credentials
	options     TokensOptions
	store       guardedStore
	flights     flights

	mu      sync.Mutex
	tenants *recent.Map[string, *tenancy]
}

// tenancy is what is known of a tenant; guarded by Tokens.mu.
type tenancy struct {
	key      string // the account's, of all that follows
	token    Token
	lookFrom time.Time // when to look for a token again although this one lasts
	dropped  Secret    // refused by WeCom: not taken from the store again
	drops    int       // tokens refused in a row
	refusal  Refusal
}

// NewTokens returns a source over an endpoint. Close it before leaving.
func NewTokens(endpoint *Endpoint, credentials Credentials, options TokensOptions) *Tokens {
	options = options.withDefaults(endpoint.now)
	return &Tokens{
		endpoint:    endpoint,
		credentials: credentials,
		options:     options,
		store:       newGuardedStore(options, endpoint),
		tenants:     recent.NewMap[string, *tenancy](options.MaxTenants),
	}
}

// Close ends fetches under way and waits for them. Tokens that are held can
// still be had.
func (t *Tokens) Close() { t.flights.close() }

// Token returns the tenant's token, fetched if need be. Its error is a
// *push.CallError of "gettoken"; for an account that was refused its Class is
// reason.Credentials and it wraps a *NotBeforeError while WeCom is not asked.
func (t *Tokens) Token(ctx context.Context, tenant string) (Secret, error) {
	if token, ok := t.held(tenant); ok {
		return token, nil
	}
	token, err := t.flights.do(ctx, tenant, func(ctx context.Context) (Secret, error) {
		ctx, cancel := context.WithTimeout(ctx, t.options.FetchTimeout)
		defer cancel()
		return t.obtain(ctx, tenant)
	})
	if err != nil {
		return Secret{}, asCallError(OpGetToken, err)
	}
	return token, nil
}

// held returns the token in the process if nothing speaks against it.
func (t *Tokens) held(tenant string) (Secret, bool) {
	now := t.endpoint.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.tenants.Get(tenant)
	if !ok || now.Before(known.refusal.Until) || !now.Before(known.lookFrom) {
		return Secret{}, false
	}
	return known.token.Value, !known.token.Value.Empty()
}

// update changes what is known of a tenant.
func (t *Tokens) update(tenant string, change func(*tenancy)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(t.tenants.GetOrPut(tenant, func() *tenancy { return new(tenancy) }))
}

// snapshot returns what is known of an account; nothing of the tenant's former
// one.
func (t *Tokens) snapshot(owner account) (known tenancy) {
	key := owner.key()
	t.update(owner.tenant, func(current *tenancy) {
		if current.key != key {
			*current = tenancy{key: key}
		}
		known = *current
	})
	return known
}

// Report takes what WeCom answered to a call: a refused token is dropped here
// and in the store, a refused account left alone, and any other answer, errors
// included, shows that the token is good (WeCom checks it first).
func (t *Tokens) Report(ctx context.Context, tenant string, used Secret, answer *push.CallError) {
	switch {
	case answer == nil:
		t.accepted(ctx, tenant)
	case answer.ErrCode == 0 || answer.ErrCode == codeBusy:
		// No answer, or none about the token.
	case tokenRefused(answer.ErrCode):
		t.drop(ctx, tenant, used, answer)
	case accountRefused(answer.ErrCode):
		t.refuse(ctx, tenant, answer)
	default:
		t.accepted(ctx, tenant)
	}
}

// drop forgets the tenant's token if it is the one that was refused. A second
// token refused in a row, with none accepted in between, is a refusal of the
// account: fetching once more would go on for ever.
func (t *Tokens) drop(ctx context.Context, tenant string, used Secret, answer *push.CallError) {
	var key string
	var again bool
	t.update(tenant, func(known *tenancy) {
		if !known.token.Value.Equal(used) {
			return
		}
		key = known.key
		known.token, known.lookFrom, known.dropped = Token{}, time.Time{}, used
		known.drops++
		again = known.drops > 1
	})
	if key == "" {
		return
	}
	t.store.invalidate(ctx, key, used)
	if again {
		t.refuse(ctx, tenant, answer)
	}
}
