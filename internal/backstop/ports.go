package backstop

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Entry is a code that is due.
type Entry struct {
	push.Ref
	// Reason is the first one that a dirty code was marked with, or
	// reason.TimeChange.
	Reason   reason.Reason
	Due      time.Time
	Released time.Time // when the broker had its event last; zero: never
	Attempts int       // times that it was released or put off before
	Version  string    // changes with all that happens to the entry
}

// DueSet holds codes of which an event has to be published at some time: the
// dirty ones, and those that time alone changes.
type DueSet interface {
	// DueTenants returns the tenants that have a code whose time has come.
	DueTenants(ctx context.Context, now time.Time) ([]string, error)
	// Due returns at most limit codes of a tenant whose time has come. Of codes
	// that nobody has been given before, the earliest come first.
	Due(ctx context.Context, tenant string, now time.Time, limit int) ([]Entry, error)
	// Published is told that the broker has the entries' events: those whose
	// version is still the one seen are due no more.
	Published(ctx context.Context, entries []Entry) error
	// Postpone makes an entry due again at until, if its version is still the
	// one seen.
	Postpone(ctx context.Context, entry Entry, until time.Time) error
}

// ErrUnpublishable is an entry of which no event can be made, now or ever.
var ErrUnpublishable = errors.New("no event can be made of the entry")

// Publisher publishes reasons to recompute codes.
type Publisher interface {
	// Publish hands all entries to the broker at once and waits for its
	// answers: the i-th error is that of the i-th entry, nil when the broker
	// has stored its event. An error that wraps ErrUnpublishable is final.
	Publish(ctx context.Context, entries []Entry) []error
}

// Records finds intents that were left behind.
type Records interface {
	// Expired yields the codes that have an intent with a deadline at or after
	// from and before before. It yields an error last, if any.
	Expired(ctx context.Context, from, before time.Time) iter.Seq2[push.Ref, error]
}
