package lease

import (
	"context"
	"time"
)

// State is a lease as it is stored. The zero State is one that nobody has held
// yet.
type State struct {
	Token    int64         // grows by one with every taking; 0: never taken
	Renewals int64         // grows by one with every renewal under a token
	Holder   string        // a name for a person; "": released
	TTL      time.Duration // the holder's own; it may be configured otherwise than ours
}

// Store keeps leases by role. Every write is one conditional update, durable
// when it returns nil; after an error its outcome is unknown.
type Store interface {
	// Read returns the lease, from the primary; the zero State when there is none.
	Read(ctx context.Context, role string) (State, error)
	// Take replaces the lease by next if token and renewals are still those of
	// seen. It reports false, and changes nothing, otherwise.
	Take(ctx context.Context, role string, seen, next State) (bool, error)
	// Renew counts a renewal if the token is still the one named and the lease
	// is not released. It reports false, and changes nothing, otherwise. A
	// repeat is harmless.
	Renew(ctx context.Context, role string, token int64) (bool, error)
	// Release makes the lease free at once if the token is still the one named,
	// and changes nothing otherwise. The token stays.
	Release(ctx context.Context, role string, token int64) error
}

// Opening says whether a lease may be taken, and why.
type Opening string

// The openings.
const (
	Held     Opening = "held"     // it may not be taken
	Released Opening = "released" // its holder gave it up, or nobody has held it yet
	Expired  Opening = "expired"  // its holder has not renewed it for the TTL
)

// Watch is what a candidate has seen of a lease. It is not safe for concurrent
// use.
type Watch struct {
	ttl   time.Duration
	seen  State
	since time.Time // the state was seen unchanged from here on; zero: not seen yet
}

// NewWatch returns the Watch of a candidate that has seen nothing yet.
func NewWatch(ttl time.Duration) *Watch { return &Watch{ttl: ttl} }

// Observe takes in a state that was read between two instants of one monotonic
// clock, and says whether the lease may be taken. The longer of the holder's
// TTL and the candidate's own counts.
func (w *Watch) Observe(s State, asked, answered time.Time) Opening {
	if s.Holder == "" {
		return Released
	}
	if w.since.IsZero() || s.Token != w.seen.Token || s.Renewals != w.seen.Renewals {
		w.seen, w.since = s, answered
		return Held
	}
	if asked.Sub(w.since) < max(w.ttl, s.TTL) {
		return Held
	}
	return Expired
}
