package backstop

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Timed is an entry with an instant for what is done to it.
type Timed struct {
	Entry
	At time.Time
}

// DirtySet is the durable set of dirty codes. What changes entries leaves those
// alone whose version is another than the one seen.
type DirtySet interface {
	// DueTenants returns the tenants that have a code in a state whose time has
	// come.
	DueTenants(ctx context.Context, state push.DirtyState, now time.Time) ([]string, error)
	// Due returns at most limit of a tenant's, the earliest first.
	Due(ctx context.Context, state push.DirtyState, tenant string, now time.Time, limit int) ([]Entry, error)
	// Unconfirmed returns at most limit released codes that are to be looked at
	// by now, the earliest first.
	Unconfirmed(ctx context.Context, now time.Time, limit int) ([]Entry, error)
	// Release notes that the broker has had the codes' events; each is to be
	// looked at by its At.
	Release(ctx context.Context, entries []Timed) error
	// Defer puts the look at released codes off until their At.
	Defer(ctx context.Context, entries []Timed) error
	// Repeat makes codes due again at their At, as something to mend.
	Repeat(ctx context.Context, entries []Timed) error
	// Remove takes codes out of the set.
	Remove(ctx context.Context, entries []Entry) error
	// Postpone makes a code due again at until.
	Postpone(ctx context.Context, entry Entry, until time.Time) error
}

// Released codes are looked at after a while, and less often each time.
const (
	longestConfirm = 10 * time.Minute
	longestRepeat  = time.Hour
)

// inState is a part of a DirtySet that is published and then watched.
type inState struct {
	DirtySet
	state   push.DirtyState
	confirm time.Duration
	now     func() time.Time
}

// InState returns the codes of a dirty set in one state as what a Releaser
// publishes. A published code stays in the set; it is looked at confirm later
// the first time (see Settler).
func InState(set DirtySet, state push.DirtyState, confirm time.Duration, now func() time.Time) DueSet {
	return &inState{DirtySet: set, state: state, confirm: confirm, now: now}
}

// DueTenants returns the tenants with codes in the state.
func (s *inState) DueTenants(ctx context.Context, now time.Time) ([]string, error) {
	return s.DirtySet.DueTenants(ctx, s.state, now)
}

// Due returns a tenant's codes in the state.
func (s *inState) Due(ctx context.Context, tenant string, now time.Time, limit int) ([]Entry, error) {
	return s.DirtySet.Due(ctx, s.state, tenant, now, limit)
}

// Published keeps the codes until they agree with their facts.
func (s *inState) Published(ctx context.Context, entries []Entry) error {
	timed := make([]Timed, len(entries))
	for i, e := range entries {
		timed[i] = Timed{Entry: e, At: s.now().Add(doubled(s.confirm, e.Attempts, longestConfirm))}
	}
	return s.Release(ctx, timed)
}

// doubled is base, doubled with each attempt.
func doubled(base time.Duration, attempts int, longest time.Duration) time.Duration {
	return min(max(base, longest), base<<min(max(attempts, 0), 12))
}
