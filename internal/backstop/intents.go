package backstop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// MarkerOptions of a Marker. All are required.
type MarkerOptions struct {
	// Margin is how long after its deadline an intent counts as left behind:
	// nobody works on it any more and its call has landed or never will.
	Margin time.Duration
	// WholeEvery is how often all expired intents are looked at, and not only
	// those that have expired since the last sweep.
	WholeEvery time.Duration
	// Parallel is how many codes are marked at once.
	Parallel int
	Now      func() time.Time
}

// Marker makes codes dirty that have an intent left behind. Its methods are not
// safe for concurrent use.
type Marker struct {
	records Records
	dirty   push.Dirty
	opts    MarkerOptions

	seen  time.Time // intents with an earlier deadline have been marked
	whole time.Time // when all were last looked at
}

// NewMarker returns a Marker. Its first sweep looks at all intents.
func NewMarker(records Records, dirty push.Dirty, opts MarkerOptions) *Marker {
	return &Marker{records: records, dirty: dirty, opts: opts}
}

// Sweep marks the codes whose intents have expired since the last sweep, and
// returns how many. A code is marked once: from then on it is in the dirty set
// or on its way to a refresher, which settles the intent or comes back to the
// dirty set by itself. An intent that was written late, by a process that was
// paused, is found when all are looked at.
//
// A sweep that fails has marked some; the next one looks at the same intents
// again.
func (m *Marker) Sweep(ctx context.Context) (int, error) {
	now := m.opts.Now()
	from, before := m.seen, now.Add(-m.opts.Margin)
	whole := now.Sub(m.whole) >= m.opts.WholeEvery
	if whole {
		from = time.Time{}
	}
	marked, err := m.mark(ctx, from, before, now)
	if err != nil {
		return marked, err
	}
	m.seen = before
	if whole {
		m.whole = now
	}
	return marked, nil
}

// mark reads and marks side by side, holding no more than Parallel codes.
func (m *Marker) mark(ctx context.Context, from, before, now time.Time) (int, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	marked := 0
	found := make(chan push.Ref)
	var marking sync.WaitGroup
	for range m.opts.Parallel {
		marking.Go(func() {
			for ref := range found {
				if err := m.markOne(ctx, ref, now); err != nil {
					stop(err)
					continue
				}
				mu.Lock()
				marked++
				mu.Unlock()
			}
		})
	}
	err := m.find(ctx, from, before, found)
	close(found)
	marking.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return marked, err
}

// find hands over what it finds until ctx ends.
func (m *Marker) find(ctx context.Context, from, before time.Time, found chan<- push.Ref) error {
	for ref, err := range m.records.Expired(ctx, from, before) {
		if err != nil {
			return fmt.Errorf("mark codes with expired intents: %w", err)
		}
		select {
		case found <- ref:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (m *Marker) markOne(ctx context.Context, ref push.Ref, now time.Time) error {
	err := m.dirty.Mark(ctx, push.Mark{
		Ref: ref, Reason: reason.Unsettled, Due: now,
		Detail: "a push was announced and its outcome never recorded",
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("mark code %s with an expired intent: %w", ref.Code, err)
	}
	return err
}
