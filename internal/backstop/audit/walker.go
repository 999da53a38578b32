package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Ports are what a Walker needs from the world. Sampler may be nil; the others
// are required.
type Ports struct {
	Codes    Codes
	Records  Records
	Sets     Sets
	Slots    Slots
	Passes   Passes
	Dirty    push.Dirty
	Findings Findings
	Sampler  Sampler
	Observer Observer
}

// Options of a Walker. All are required.
type Options struct {
	// Owner names this walker in what it claims.
	Owner string
	// Rate is how many codes (records, sets) a second this walker looks at;
	// negative: no limit.
	Rate float64
	// ChunkSize is how many are claimed and read at once.
	ChunkSize int
	// MaxOpen bounds the chunks that wait for their second look.
	MaxOpen int
	// Bound is the freshness bound: a difference that is there twice, this far
	// apart, has no event under way.
	Bound time.Duration
	// Every is the time from one pass's begin to the next one's at least.
	Every time.Duration
	// Patience is how long a claimed chunk may stay open, its further looks
	// aside, before another walker takes it over.
	Patience time.Duration
	// Beat is called at least once for each read; it must not wait.
	Beat   func()
	Lanes  roster.LaneRules
	Now    func() time.Time
	Logger *slog.Logger
}

// idle is how long a walker without work waits before it looks for some.
const idle = time.Second

// maxAgain bounds how often a code is looked at again whose difference is
// another one each time: it is being worked on.
const maxAgain = 3

// Walker passes over all codes again and again, beside other walkers. It is not
// safe for concurrent use.
type Walker struct {
	Ports
	opts Options
	open []*visit // chunks of ours whose suspects wait, the earliest first
	free time.Time
}

// visit is a chunk that is being looked at.
type visit struct {
	pass     int64
	chunk    Chunk
	tally    Tally
	suspects map[push.Ref]suspect
	due      time.Time // of the next look at them
}

// suspect is a code with a difference that may still be on its way.
type suspect struct {
	same  string
	looks int
}

// New returns a Walker.
func New(ports Ports, opts Options) *Walker { return &Walker{Ports: ports, opts: opts} }

// Run walks until ctx ends. A step that fails is told and tried again.
func (w *Walker) Run(ctx context.Context) {
	for ctx.Err() == nil {
		w.opts.Beat()
		wait, err := w.Step(ctx)
		if err != nil && ctx.Err() == nil {
			w.opts.Logger.ErrorContext(ctx, "audit failed; it is tried again", "error", err)
			wait = idle
		}
		sleep(ctx, wait)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Step does the next piece of work: second looks that are due, else a new chunk.
// It returns how long there is nothing to do.
func (w *Walker) Step(ctx context.Context) (time.Duration, error) {
	now := w.opts.Now()
	if len(w.open) > 0 && !w.open[0].due.After(now) {
		return 0, w.lookAgain(ctx, w.open[0])
	}
	if w.free.After(now) {
		return min(w.free.Sub(now), w.untilDue(now)), nil
	}
	if len(w.open) < w.opts.MaxOpen {
		began, err := w.visit(ctx, now)
		if began || err != nil {
			return 0, err
		}
	}
	return min(idle, w.untilDue(now)), nil
}

// untilDue is how long until the next second look; idle when there is none.
func (w *Walker) untilDue(now time.Time) time.Duration {
	if len(w.open) == 0 {
		return idle
	}
	return max(0, w.open[0].due.Sub(now))
}

// visit claims a chunk and looks at what is in it. False: there is none.
func (w *Walker) visit(ctx context.Context, now time.Time) (bool, error) {
	v, looks, err := w.claim(ctx, now)
	if err != nil || v.chunk.Serial == 0 {
		return false, err
	}
	seen, err := w.look(ctx, &v, looks)
	w.spend(now, seen)
	if err != nil {
		return true, abandoned(&v, err)
	}
	return true, w.settle(ctx, &v)
}

// spend books the time that so many looks take at the walker's rate. Time that
// was not used is not saved up.
func (w *Walker) spend(now time.Time, looks int) {
	if w.opts.Rate <= 0 {
		return
	}
	if w.free.Before(now) {
		w.free = now
	}
	w.free = w.free.Add(time.Duration(float64(looks) / w.opts.Rate * float64(time.Second)))
}

// abandoned names a chunk that could not be looked at. Its time runs out, and a
// walker, perhaps this one, takes it over.
func abandoned(v *visit, err error) error {
	return fmt.Errorf("audit chunk %d (%s after %q): %w", v.chunk.Serial, v.chunk.Stage, v.chunk.From, err)
}

// settle completes a visit without suspects, or keeps it until they are due.
func (w *Walker) settle(ctx context.Context, v *visit) error {
	if len(v.suspects) > 0 {
		v.due = w.opts.Now().Add(w.opts.Bound)
		w.open = append(w.open, v)
		return nil
	}
	return w.complete(ctx, v)
}

// complete takes the chunk out of the pass. When that fails the chunk is looked
// at once more, by whoever takes it over.
func (w *Walker) complete(ctx context.Context, v *visit) error {
	for {
		pass, err := w.Passes.Get(ctx)
		if err != nil {
			return fmt.Errorf("audit: read the pass: %w", err)
		}
		after, ours := pass.complete(v.chunk, v.tally, w.opts.Now())
		if !ours {
			return nil
		}
		done, err := w.Passes.Swap(ctx, after)
		if err != nil {
			return fmt.Errorf("audit: complete chunk %d: %w", v.chunk.Serial, err)
		}
		if !done {
			continue
		}
		if !after.Ended.IsZero() {
			w.Observer.Passed(ctx, after)
			w.opts.Logger.InfoContext(ctx, "audit pass ended", "pass", after.Number, "took", after.Ended.Sub(after.Begun), "found", after.Tally)
		}
		return nil
	}
}

var (
	// errLost says that a step was overtaken; it is tried again.
	errLost = errors.New("another walker was faster")
	// errOvertaken says that a visit's chunk is another walker's.
	errOvertaken = errors.New("another walker has taken the chunk over")
)
