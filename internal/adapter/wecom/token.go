package wecom

import (
	"context"
	"time"
)

// Token is an access token as it is kept and shared.
type Token struct {
	Value Secret
	// Expires is when WeCom said the token ends, counted from before it was
	// asked for. WeCom may end it earlier.
	Expires time.Time
	// RefreshAfter is when one instance should ask for the next. Whoever
	// fetched the token chose it, so that instances do not refresh in turn.
	RefreshAfter time.Time
}

// TokenStore keeps tokens for all instances. It may lose any of them at any
// time. A key is at most 200 bytes. Every method may fail; the caller then
// goes on alone.
type TokenStore interface {
	// Get returns the token of a key; false when there is none or it expired.
	Get(ctx context.Context, key string) (Token, bool, error)
	// Put keeps a token until it expires, in place of any other.
	Put(ctx context.Context, key string, token Token) error
	// Invalidate removes the key's token if it is the one that was refused.
	Invalidate(ctx context.Context, key string, refused Secret) error
	// Lease asks for the right to fetch the key's token for at most ttl. It
	// returns nil when another has it. Release gives it up early and leaves
	// alone a lease that has passed to another in the meantime.
	Lease(ctx context.Context, key string, ttl time.Duration) (Lease, error)
}

// Lease is the right to fetch a token.
type Lease interface {
	Release(ctx context.Context) error
}

// Refusal is how often in a row WeCom refused an account, and until when it is
// not asked again.
type Refusal struct {
	Op      string // the API that was refused
	ErrCode int
	Message string
	Streak  int
	Until   time.Time
}

// RefusalStore shares refusals, so that neither more instances nor a restart
// means more calls with a bad secret. A TokenStore may be one.
type RefusalStore interface {
	// Refusal returns the key's refusal; false when there is none.
	Refusal(ctx context.Context, key string) (Refusal, bool, error)
	// PutRefusal keeps a refusal for ttl, which goes beyond its Until: the
	// streak outlives the delay.
	PutRefusal(ctx context.Context, key string, refusal Refusal, ttl time.Duration) error
	// DropRefusal forgets the key's refusal.
	DropRefusal(ctx context.Context, key string) error
}
