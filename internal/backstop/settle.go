package backstop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Checker tells whether codes agree with their facts (audit.Confirmer).
type Checker interface {
	Confirm(ctx context.Context, refs []push.Ref) ([]audit.Finding, error)
}

// SettlerOptions of a Settler. All are required.
type SettlerOptions struct {
	// Confirm is how long after its event a code is looked at; it doubles with
	// every further attempt.
	Confirm time.Duration
	// Patience is how long after its event a code that differs may still be at
	// work on: a refresher holds it no longer without marking it again.
	Patience time.Duration
	// Batch is how many codes are read at once, Batches how often in one sweep.
	Batch, Batches int
	Now            func() time.Time
	Logger         *slog.Logger
}

// Settler takes codes out of the dirty set that agree with their facts, and has
// those published again that do not. Its methods are not safe for concurrent
// use.
type Settler struct {
	set     DirtySet
	checker Checker
	opts    SettlerOptions
}

// NewSettler returns a Settler.
func NewSettler(set DirtySet, checker Checker, opts SettlerOptions) *Settler {
	return &Settler{set: set, checker: checker, opts: opts}
}

// Settled is what one sweep did, in codes.
type Settled struct {
	Agreed   int // out of the set
	Waiting  int // looked at later: a slot, a lane or a backoff is not over, or a refresher may hold it
	Repeated int // to be published again
}

// Sweep looks at the released codes whose time has come.
func (s *Settler) Sweep(ctx context.Context) (Settled, error) {
	var out Settled
	for range s.opts.Batches {
		entries, err := s.set.Unconfirmed(ctx, s.opts.Now(), s.opts.Batch)
		if err != nil {
			return out, fmt.Errorf("settle dirty codes: %w", err)
		}
		if len(entries) == 0 {
			return out, nil
		}
		if err := s.settle(ctx, entries, &out); err != nil {
			return out, fmt.Errorf("settle %d dirty codes: %w", len(entries), err)
		}
		if len(entries) < s.opts.Batch {
			return out, nil
		}
	}
	return out, nil
}

func (s *Settler) settle(ctx context.Context, entries []Entry, out *Settled) error {
	refs := make([]push.Ref, len(entries))
	for i, e := range entries {
		refs[i] = e.Ref
	}
	findings, err := s.checker.Confirm(ctx, refs)
	if err != nil {
		return err
	}
	now := s.opts.Now()
	var agreed []Entry
	var waiting, again []Timed
	for i, e := range entries {
		switch f := findings[i]; {
		case f.Agrees():
			agreed = append(agreed, e)
		case f.Waits != "" || !f.Hopeless() && now.Sub(e.Released) < s.opts.Patience:
			waiting = append(waiting, Timed{e, now.Add(doubled(s.opts.Confirm, e.Attempts, longestConfirm))})
		default:
			again = append(again, Timed{e, now.Add(s.repeatAfter(f.Kind, e.Attempts))})
			s.opts.Logger.WarnContext(ctx, "a dirty code was published and still differs from its facts",
				"tenant", e.Tenant, "code", e.Code, "reason", f.Kind, "detail", f.Detail, "attempts", e.Attempts)
		}
	}
	out.Agreed += len(agreed)
	out.Waiting += len(waiting)
	out.Repeated += len(again)
	return errors.Join(s.set.Remove(ctx, agreed), s.set.Defer(ctx, waiting), s.set.Repeat(ctx, again))
}

// repeatAfter is how long a code that still differs is left alone: once it was
// published it may be on its way; what keeps differing needs a person.
func (s *Settler) repeatAfter(why reason.Reason, attempts int) time.Duration {
	if why == reason.UnknownCode || why == reason.UnknownTenant {
		return longestRepeat
	}
	return doubled(s.opts.Confirm, attempts-1, longestRepeat)
}
