package backstop

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Entry is a dirty code that is due.
type Entry struct {
	push.Ref
	Reason  reason.Reason // the first one it was marked with
	Version string        // changes with every mark and postponement
}

// DirtySet is the set of codes that could not be finished.
type DirtySet interface {
	push.Dirty
	// DueTenants returns the tenants that have a code whose time has come.
	DueTenants(ctx context.Context, now time.Time) ([]string, error)
	// Due returns at most limit codes of a tenant whose time has come, the
	// earliest first.
	Due(ctx context.Context, tenant string, now time.Time, limit int) ([]Entry, error)
	// Remove takes out those entries whose version is still the one seen.
	Remove(ctx context.Context, entries []Entry) error
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
