package shadow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// DefaultSettle is how long neither list may have changed before they are
// compared.
const DefaultSettle = 30 * time.Second

// Options of a Comparer. All but Settle are required.
type Options struct {
	Store     Store
	Directory Directory
	Observer  Observer
	Settle    time.Duration // 0 is DefaultSettle
	Now       func() time.Time
	Logger    *slog.Logger
}

// Comparer compares the codes whose lists have settled. It is safe for concurrent
// use.
type Comparer struct{ o Options }

// NewComparer returns a Comparer.
func NewComparer(o Options) *Comparer {
	if o.Settle == 0 {
		o.Settle = DefaultSettle
	}
	return &Comparer{o: o}
}

// Compared is what a sweep has done.
type Compared struct {
	Matched    int
	Mismatched int
	NoVerdict  int
	Left       int // codes with one side only, or not in shadow mode any more
}

const (
	sweepPage = 200
	// sweepPages bounds a sweep; the next one goes on. A code costs three round
	// trips.
	sweepPages = 10
)

// Sweep compares what has settled. It may be run by several processes at once:
// each comparison counts once.
func (c *Comparer) Sweep(ctx context.Context) (Compared, error) {
	var done Compared
	for range sweepPages {
		states, err := c.o.Store.Due(ctx, c.o.Now().Add(-c.o.Settle), sweepPage)
		if err != nil {
			return done, fmt.Errorf("find codes to compare: %w", err)
		}
		for _, state := range states {
			if err := c.settle(ctx, state, &done); err != nil {
				return done, fmt.Errorf("compare code %s of tenant %s: %w", state.Code, state.Tenant, err)
			}
		}
		if len(states) < sweepPage {
			break
		}
	}
	return done, nil
}

func (c *Comparer) settle(ctx context.Context, seen State, done *Compared) error {
	comparison, err := c.compare(ctx, seen)
	if err != nil {
		return err
	}
	settled, err := c.o.Store.Settle(ctx, seen, comparison)
	if err != nil || !settled {
		return err
	}
	done.count(comparison.Outcome)
	if comparison.Outcome == "" {
		return nil
	}
	causes := Causes(comparison.Differences)
	c.o.Observer.Compared(ctx, comparison.Outcome, causes)
	if comparison.Outcome == Mismatch {
		c.o.Logger.InfoContext(ctx, "another system pushed another list",
			"tenant", seen.Tenant, "code", seen.Code, "causes", causes, "source", string(seen.Theirs.Source))
	}
	return nil
}

// compare looks at a state. What the facts do not know any more is not compared.
func (c *Comparer) compare(ctx context.Context, seen State) (Comparison, error) {
	mode, err := c.o.Directory.Mode(ctx, seen.Ref)
	switch {
	case errors.Is(err, push.ErrUnknownTenant), errors.Is(err, push.ErrUnknownCode),
		errors.Is(err, push.ErrInvalidFacts), errors.Is(err, roster.ErrInvalid): // one code's facts must not hold up the others
		return seen.left(), nil
	case err != nil:
		return Comparison{}, err
	case !mode.Shadow || !seen.Decided() || !seen.ReportedIn(mode.Term):
		return seen.left(), nil
	}
	return seen.compared(c.o.Now(), mode), nil
}

func (d *Compared) count(outcome Outcome) {
	switch outcome {
	case Match:
		d.Matched++
	case Mismatch:
		d.Mismatched++
	case NoVerdict:
		d.NoVerdict++
	default:
		d.Left++
	}
}
