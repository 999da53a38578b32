package quota

import (
	"context"
	"fmt"
	"time"
)

// sweepPage is how many pairs a sweep looks at in one step.
const sweepPage = 1000

// Recover completes the additions that were left behind, and returns how many
// pairs it has completed. One that fails is left for the next time.
func (c *Counter) Recover(ctx context.Context) (int, error) {
	left, err := c.Contacts.Open(ctx, c.opts.Now().Add(-c.opts.Overdue), sweepPage)
	if err != nil {
		return 0, fmt.Errorf("find additions left behind: %w", err)
	}
	return each(ctx, left, func(ctx context.Context, known Known) error {
		if err := c.complete(ctx, known.Pair, known.Contact); err != nil {
			return fmt.Errorf("complete an addition of tenant %s: %w", known.Tenant, err)
		}
		return nil
	})
}

// maxPages bounds one sweep's forgetting; the next one goes on.
const maxPages = 50

// Forget lets the counters forget additions that have been done for long
// enough, and returns how many.
func (c *Counter) Forget(ctx context.Context) (int, error) {
	forgotten := 0
	for range maxPages {
		n, more, err := c.forgetPage(ctx, c.opts.Now().Add(-c.opts.ForgetAfter))
		forgotten += n
		if err != nil || !more {
			return forgotten, err
		}
	}
	return forgotten, nil
}

// forgetPage tells the counters first: an addition that its contact has
// forgotten and a counter has not would stay there for good.
func (c *Counter) forgetPage(ctx context.Context, before time.Time) (n int, more bool, err error) {
	found, err := c.Contacts.Done(ctx, before, sweepPage)
	if err != nil {
		return 0, false, fmt.Errorf("find additions to forget: %w", err)
	}
	var old []Counting
	for _, known := range found {
		for _, a := range known.Contact.Additions {
			if a.doneBefore(before) {
				old = append(old, Counting{known.Pair, a})
			}
		}
	}
	if len(old) == 0 {
		return 0, false, nil
	}
	if err := c.Counters.Forget(ctx, old); err != nil {
		return 0, false, fmt.Errorf("forget additions: %w", err)
	}
	_, err = each(ctx, found, func(ctx context.Context, known Known) error {
		// Somebody else's write is no harm: the next sweep finds it again.
		if _, err := c.Contacts.Put(ctx, known.Pair, known.Contact.forget(before)); err != nil {
			return fmt.Errorf("forget additions of tenant %s: %w", known.Tenant, err)
		}
		return nil
	})
	return len(old), len(found) == sweepPage, err
}

func (a Addition) doneBefore(t time.Time) bool { return !a.Done.IsZero() && a.Done.Before(t) }
