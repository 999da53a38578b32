package backstop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// unpublishableFor is how long an entry of which no event can be made is left
// alone. It needs a person; it must not stand in its tenant's way meanwhile.
const unpublishableFor = time.Hour

// maxRounds bounds how often what a tenant left of its share of the total is
// offered to those who have more.
const maxRounds = 4

// ReleaserOptions of a Releaser. All are required.
type ReleaserOptions struct {
	// TenantRate is how many codes of one tenant are released a second: the
	// tenant's budget, or the part of it that the keeper may use.
	TenantRate float64
	// TotalRate is the same for all tenants together.
	TotalRate float64
	// Parallel is how many tenants are released at once.
	Parallel int
	Now      func() time.Time
	Logger   *slog.Logger
}

// Releaser gives codes that are due to the refreshers. Its methods are not safe
// for concurrent use.
type Releaser struct {
	due       DueSet
	publisher Publisher
	opts      ReleaserOptions
	pace      *pace
}

// NewReleaser returns a Releaser. Its pace begins with a second's worth.
func NewReleaser(due DueSet, publisher Publisher, opts ReleaserOptions) *Releaser {
	return &Releaser{due: due, publisher: publisher, opts: opts, pace: newPace(opts.TenantRate, opts.TotalRate)}
}

// Released is what one sweep did, in codes.
type Released struct {
	ByReason      map[reason.Reason]int // given back, by the reason of their entries
	Unpublishable int                   // postponed: no event can be made of them
	Late          time.Duration         // the longest that one of those given back had been due
}

// Sweep publishes the codes that are due, each tenant's earliest first and
// at its own pace. What is beyond the pace is not touched, not even read, so a
// tenant with any number of them costs no more than one with a few, and stands
// in nobody's way.
//
// An entry is due until the broker has stored its event: a code is always in one
// of the two places, and after a crash in between in both. The
// error joins those of the tenants; what it is about is still in the set.
func (r *Releaser) Sweep(ctx context.Context) (Released, error) {
	now := r.opts.Now()
	out := Released{ByReason: map[reason.Reason]int{}}
	tenants, err := r.due.DueTenants(ctx, now)
	if err != nil {
		return out, fmt.Errorf("release due codes: %w", err)
	}
	var failed []error
	for range maxRounds {
		shares := r.pace.shares(tenants, now)
		if len(shares) == 0 {
			break
		}
		tenants = nil
		for done := range r.releaseAll(ctx, shares, now) {
			r.take(ctx, &out, done)
			failed = append(failed, done.err)
			if done.err == nil && len(done.stored) == done.codes {
				tenants = append(tenants, done.tenant) // it may have more
			}
		}
	}
	return out, errors.Join(append(failed, ctx.Err())...)
}

// take adds what became of one share.
func (r *Releaser) take(ctx context.Context, out *Released, done released) {
	r.pace.spend(done.tenant, len(done.stored))
	out.Unpublishable += len(done.unpublishable)
	for _, entry := range done.stored {
		out.ByReason[entry.Reason]++
		out.Late = max(out.Late, r.opts.Now().Sub(entry.Due))
		r.opts.Logger.InfoContext(ctx, "code released", "tenant", entry.Tenant, "code", entry.Code, "reason", entry.Reason)
	}
}

// releaseAll releases some tenants at a time. The channel is closed when all
// are done, or those begun when ctx ended; it has to be read until then.
func (r *Releaser) releaseAll(ctx context.Context, shares []share, now time.Time) <-chan released {
	done := make(chan released, r.opts.Parallel)
	next := make(chan share)
	var workers sync.WaitGroup
	for range min(r.opts.Parallel, len(shares)) {
		workers.Go(func() {
			for s := range next {
				done <- r.release(ctx, s, now)
			}
		})
	}
	go func() {
		defer close(done)
		defer workers.Wait()
		defer close(next)
		for _, s := range shares {
			if ctx.Err() != nil {
				return
			}
			next <- s
		}
	}()
	return done
}

// released is what became of one tenant's share.
type released struct {
	share
	stored        []Entry // the broker has their events
	unpublishable []Entry
	err           error
}

func (r *Releaser) release(ctx context.Context, s share, now time.Time) released {
	out := released{share: s}
	entries, err := r.due.Due(ctx, s.tenant, now, s.codes)
	if err != nil {
		out.err = fmt.Errorf("read the due codes of tenant %s: %w", s.tenant, err)
		return out
	}
	if len(entries) == 0 {
		return out
	}
	failures, first := 0, error(nil)
	for i, err := range r.publisher.Publish(ctx, entries) {
		switch {
		case err == nil:
			out.stored = append(out.stored, entries[i])
		case errors.Is(err, ErrUnpublishable):
			r.opts.Logger.ErrorContext(ctx, "no event can be made of a code", "tenant", entries[i].Tenant, "code", entries[i].Code, "error", err)
			out.unpublishable = append(out.unpublishable, entries[i])
		case failures == 0:
			first = err
			failures++
		default:
			failures++
		}
	}
	if failures > 0 {
		out.err = fmt.Errorf("publish %d of %d due codes of tenant %s: %w", failures, len(entries), s.tenant, first)
	}
	out.err = errors.Join(out.err, r.settle(ctx, out, now))
	return out
}

// settle writes down what became of the entries. One that stays although its
// event is stored is released once more.
func (r *Releaser) settle(ctx context.Context, done released, now time.Time) error {
	var failed []error
	if len(done.stored) > 0 {
		if err := r.due.Published(ctx, done.stored); err != nil {
			failed = append(failed, fmt.Errorf("note the released codes of tenant %s: %w", done.tenant, err))
		}
	}
	for _, entry := range done.unpublishable {
		if err := r.due.Postpone(ctx, entry, now.Add(unpublishableFor)); err != nil {
			failed = append(failed, fmt.Errorf("postpone code %s: %w", entry.Code, err))
		}
	}
	return errors.Join(failed...)
}
