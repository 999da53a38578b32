package backstop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Entry is a dirty code that is due.
type Entry struct {
	push.Ref
	Reason  reason.Reason // the first one it was marked with
	Version string        // for Claim and Remove
}

// DirtySet is the set of codes that could not be finished.
type DirtySet interface {
	push.Dirty
	// Due returns at most limit entries whose time has come, earliest first.
	Due(ctx context.Context, now time.Time, limit int) ([]Entry, error)
	// Claim makes an entry due again at until, if its version is still the one
	// seen, and returns the new version; false: somebody else was here.
	Claim(ctx context.Context, entry Entry, until time.Time) (Entry, bool, error)
	// Remove takes an entry out if its version is still the one seen.
	Remove(ctx context.Context, entry Entry) (bool, error)
}

// Records finds intents that were left behind.
type Records interface {
	// ExpiredIntents returns at most limit codes after the one named, in a
	// fixed order, that have an intent whose deadline lies before the instant.
	ExpiredIntents(ctx context.Context, before time.Time, after push.Ref, limit int) ([]push.Ref, error)
}

// Publisher publishes a reason to recompute a code; a nil error says that the
// broker has stored it.
type Publisher interface {
	Publish(ctx context.Context, ref push.Ref, why reason.Reason) error
}

// Options of a Sweeper. All are required.
type Options struct {
	// TenantRate is how many codes of one tenant are released a second.
	TenantRate float64
	// Batch is the most entries looked at in one sweep.
	Batch int
	// ClaimFor is how long a code that is being released is nobody else's. It
	// bounds one publish; a keeper that dies in between is caught up after it.
	ClaimFor time.Duration
	// IntentMargin is how long after its deadline an intent counts as left
	// behind: nobody works on it any more and its call has landed or never will.
	IntentMargin time.Duration
	Now          func() time.Time
	Logger       *slog.Logger
}

// Sweeper works off the dirty set. Several may run at once; they share the
// work by claims.
type Sweeper struct {
	dirty     DirtySet
	records   Records
	publisher Publisher
	opts      Options
}

// New returns a Sweeper.
func New(dirty DirtySet, records Records, publisher Publisher, opts Options) *Sweeper {
	return &Sweeper{dirty: dirty, records: records, publisher: publisher, opts: opts}
}

// Released is what one sweep did.
type Released struct {
	Published int // codes given back to the refreshers
	Postponed int // codes that are due, but beyond their tenant's pace
}

// Release publishes the dirty codes that are due, at their tenant's pace for
// a sweep every `every`; those beyond the pace are spread over the time after.
// An entry leaves the set only after the broker has stored its event: it is
// always in one of the two places.
func (s *Sweeper) Release(ctx context.Context, every time.Duration) (Released, error) {
	var out Released
	entries, err := s.dirty.Due(ctx, s.opts.Now(), s.opts.Batch)
	if err != nil {
		return out, fmt.Errorf("read the dirty codes that are due: %w", err)
	}
	allowed := max(1, int(s.opts.TenantRate*every.Seconds()))
	seen := map[string]int{}
	var failed []error
	for _, entry := range entries {
		if ctx.Err() != nil {
			break
		}
		place := seen[entry.Tenant]
		seen[entry.Tenant]++
		if place >= allowed {
			failed = append(failed, s.postpone(ctx, entry, place))
			out.Postponed++
			continue
		}
		ok, err := s.release(ctx, entry)
		failed = append(failed, err)
		if ok {
			out.Published++
		}
	}
	return out, errors.Join(failed...)
}

// postpone moves an entry to its place in its tenant's line, so that the codes
// of one tenant do not stand in the way of another's.
func (s *Sweeper) postpone(ctx context.Context, entry Entry, place int) error {
	wait := time.Duration(float64(place) / s.opts.TenantRate * float64(time.Second))
	if _, _, err := s.dirty.Claim(ctx, entry, s.opts.Now().Add(wait)); err != nil {
		return fmt.Errorf("postpone dirty code %s: %w", entry.Code, err)
	}
	return nil
}

func (s *Sweeper) release(ctx context.Context, entry Entry) (bool, error) {
	claimed, ok, err := s.dirty.Claim(ctx, entry, s.opts.Now().Add(s.opts.ClaimFor))
	if err != nil {
		return false, fmt.Errorf("claim dirty code %s: %w", entry.Code, err)
	}
	if !ok {
		return false, nil
	}
	if err := s.publisher.Publish(ctx, entry.Ref, entry.Reason); err != nil {
		return false, fmt.Errorf("publish dirty code %s: %w", entry.Code, err)
	}
	if _, err := s.dirty.Remove(ctx, claimed); err != nil {
		return true, fmt.Errorf("remove dirty code %s: %w", entry.Code, err)
	}
	s.opts.Logger.InfoContext(ctx, "dirty code released", "tenant", entry.Tenant, "code", entry.Code, "reason", entry.Reason)
	return true, nil
}

// MarkExpired makes every code dirty that has an intent left behind, and
// returns how many there were.
func (s *Sweeper) MarkExpired(ctx context.Context) (int, error) {
	before := s.opts.Now().Add(-s.opts.IntentMargin)
	var after push.Ref
	marked := 0
	for {
		refs, err := s.records.ExpiredIntents(ctx, before, after, s.opts.Batch)
		if err != nil {
			return marked, fmt.Errorf("find expired intents: %w", err)
		}
		for _, ref := range refs {
			mark := push.Mark{Ref: ref, Reason: reason.Unsettled, Detail: "a push was announced and its outcome never recorded", Due: s.opts.Now()}
			if err := s.dirty.Mark(ctx, mark); err != nil {
				return marked, fmt.Errorf("mark code %s with an expired intent: %w", ref.Code, err)
			}
			marked++
			after = ref
		}
		if len(refs) < s.opts.Batch {
			return marked, nil
		}
	}
}
