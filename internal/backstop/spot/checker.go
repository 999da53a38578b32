package spot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Policy says what follows from a difference.
type Policy string

// The policies.
const (
	Report Policy = "report" // store it, for a person
	Repair Policy = "repair" // store it, and have the code pushed again
)

// Sample is a code that a pass has picked, as the pass read it.
type Sample struct {
	push.Ref
	ConfigID string
	Revision int64 // roster.Code.Revision
	Record   push.Record
	Wanted   Wanted
}

// Wanted is what the facts ask for beside the members, who are the record's.
type Wanted struct {
	Remark     string
	State      string
	SkipVerify bool
}

// ours is what WeCom should hold.
func (s Sample) ours() Way {
	return Way{Users: usersOf(s.Record.Committed.Members), Remark: s.Wanted.Remark, State: s.Wanted.State, SkipVerify: s.Wanted.SkipVerify}
}

// Outcome is the end of a check.
type Outcome string

// The ends of a check.
const (
	Agrees    Outcome = "agrees"
	Differs   Outcome = "differs"
	Skipped   Outcome = "skipped"   // no budget was spare
	Unsettled Outcome = "unsettled" // a push is under way or to come: no verdict
)

// Finding is what a check found.
type Finding struct {
	Outcome Outcome
	// Difference is set when Outcome is Differs, as it is stored.
	Difference Difference
}

// Options of a Checker. All are required.
type Options struct {
	Policy Policy
	// Settle is how long after a push its list is not judged: WeCom does not say
	// when an update can be read back.
	Settle time.Duration
	// Grace is how long a repair may take until the code is released all the
	// same: longer than its two writes take.
	Grace time.Duration
	Now   func() time.Time
}

// Ports of a Checker.
type Ports struct {
	Spare       Spare
	Looker      Looker
	Records     Records
	Doubts      Doubts
	Dirty       push.Dirty
	Differences Differences
	Days        Days
}

// Checker compares codes with what WeCom holds. It is safe for concurrent use.
type Checker struct {
	ports Ports
	opts  Options
}

// NewChecker returns a Checker.
func NewChecker(ports Ports, opts Options) *Checker { return &Checker{ports: ports, opts: opts} }

// Check spends at most one call of the vendor on a code. An error is one of the
// ports: of the call, and then the code counts as skipped; or of a store, and
// then the check may be counted and its difference not be kept. It may be
// repeated.
func (c *Checker) Check(ctx context.Context, s Sample) (Finding, error) {
	if !c.judgeable(s) {
		return Finding{Outcome: Unsettled}, c.count(ctx, s, Tally{Unsettled: 1})
	}
	spare, err := c.ports.Spare.Spare(ctx, s.Tenant)
	if err != nil || !spare {
		return Finding{Outcome: Skipped}, c.skip(ctx, s, err)
	}
	theirs, known, err := c.ports.Looker.Way(ctx, s.Tenant, s.ConfigID)
	if err != nil {
		return Finding{Outcome: Skipped}, c.skip(ctx, s, err)
	}
	still, err := c.still(ctx, s)
	if err != nil {
		return Finding{Outcome: Skipped}, c.skip(ctx, s, err)
	}
	if !still {
		return Finding{Outcome: Unsettled}, c.count(ctx, s, Tally{Unsettled: 1})
	}
	cause := differs(s.ours(), theirs, known)
	if cause == "" {
		return Finding{Outcome: Agrees}, errors.Join(c.count(ctx, s, Tally{Checked: 1}), c.agree(ctx, s.Ref))
	}
	found, err := c.differ(ctx, s, sighting{
		cause: cause, ours: s.ours(), theirs: theirs, committed: s.Record.Committed.At, at: c.opts.Now(),
	})
	return Finding{Outcome: Differs, Difference: found}, err
}

// judgeable reports whether a look could lead to a verdict; a call is not spent
// otherwise.
func (c *Checker) judgeable(s Sample) bool {
	if s.ConfigID == "" || len(s.Record.Intents) > 0 {
		return false
	}
	committed := s.Record.Committed
	return settled(s.Record) && s.Revision == committed.Revision &&
		c.opts.Now().Sub(committed.At) >= c.opts.Settle
}

// still reports whether nothing was pushed, or begun, since the sample was read.
func (c *Checker) still(ctx context.Context, s Sample) (bool, error) {
	now, err := c.ports.Records.Record(ctx, s.Ref)
	if err != nil {
		return false, err
	}
	return now.Epoch == s.Record.Epoch && len(now.Intents) == 0 && settled(now), nil
}

func (c *Checker) count(ctx context.Context, s Sample, tally Tally) error {
	day := roster.DayOf(c.opts.Now(), time.UTC)
	if err := c.ports.Days.Add(ctx, s.Tenant, day, tally); err != nil {
		return fmt.Errorf("count the check of code %s: %w", s.Code, err)
	}
	return nil
}

// skip counts a code that was not looked at, and why.
func (c *Checker) skip(ctx context.Context, s Sample, cause error) error {
	if cause != nil {
		cause = fmt.Errorf("look at code %s: %w", s.Code, cause)
	}
	return errors.Join(cause, c.count(ctx, s, Tally{Skipped: 1}))
}

// agree ends the difference of a code, if there is one.
func (c *Checker) agree(ctx context.Context, ref push.Ref) error {
	now := c.opts.Now()
	_, err := c.update(ctx, ref, func(d Difference, known bool) (Difference, bool) {
		return d.agreed(now), known
	})
	return err
}

// differ counts a difference, stores it, and does what the policy says.
func (c *Checker) differ(ctx context.Context, s Sample, seen sighting) (Difference, error) {
	seen.state = Open
	if c.opts.Policy == Repair {
		seen.state = Repairing
	}
	if err := c.count(ctx, s, Tally{Checked: 1, Differ: 1}); err != nil {
		return Difference{}, err
	}
	found, err := c.update(ctx, s.Ref, func(d Difference, _ bool) (Difference, bool) { return d.seen(seen), true })
	if err != nil || found.State != Repairing {
		return found, err
	}
	return found, c.repair(ctx, found, s.Record.Epoch)
}

// repair has a code pushed again. The first mark is for a death after the doubt:
// without it nobody would come to push until the code's next event.
func (c *Checker) repair(ctx context.Context, d Difference, epoch int64) error {
	now := c.opts.Now()
	mark := push.Mark{Ref: d.Ref, Reason: d.Cause, Detail: d.Detail(), Due: now.Add(c.opts.Grace)}
	if err := c.ports.Dirty.Mark(ctx, mark); err != nil {
		return fmt.Errorf("announce the repair of code %s: %w", d.Code, err)
	}
	doubted, err := c.ports.Doubts.Doubt(ctx, d.Ref, epoch)
	if err != nil {
		return fmt.Errorf("doubt the list of code %s: %w", d.Code, err)
	}
	if !doubted {
		return nil // a push has begun since, which overwrites what WeCom holds
	}
	mark.Due = now
	if err := c.ports.Dirty.Mark(ctx, mark); err != nil {
		return fmt.Errorf("repair code %s: %w", d.Code, err)
	}
	return nil
}

// writeAttempts bounds how often a write is tried that others got ahead of: two
// keepers look at the same code only when a chunk of the audit is taken over.
const writeAttempts = 4

var errContended = errors.New("others changed the difference at every attempt")

// update changes what is stored of a code's difference, and returns it.
func (c *Checker) update(ctx context.Context, ref push.Ref, change func(Difference, bool) (Difference, bool)) (Difference, error) {
	for range writeAttempts {
		have, known, err := c.ports.Differences.Get(ctx, ref)
		if err != nil {
			return Difference{}, fmt.Errorf("read the difference of code %s: %w", ref.Code, err)
		}
		have.Ref = ref
		next, write := change(have, known)
		if !write {
			return Difference{}, nil
		}
		done, err := c.ports.Differences.Put(ctx, next)
		if err != nil {
			return Difference{}, fmt.Errorf("store the difference of code %s: %w", ref.Code, err)
		}
		if done {
			next.Version++
			return next, nil
		}
	}
	return Difference{}, fmt.Errorf("store the difference of code %s: %w", ref.Code, errContended)
}
