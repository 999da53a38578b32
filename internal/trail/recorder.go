package trail

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/recent"
)

// Store keeps trails.
type Store interface {
	// Append adds entries to their codes' trails. The newest of each kind stay, and
	// none longer than KeptFor.
	Append(ctx context.Context, entries []Noted) error
	// Of returns a code's entries, oldest first, and none older than KeptFor.
	Of(ctx context.Context, ref push.Ref) ([]Entry, error)
}

// Fates of entries.
const (
	Written = "written"
	Dropped = "dropped" // there was no room: the store is slower than what happens
	Failed  = "failed"  // the store did not take it
)

// Options of a Recorder. All are required.
type Options struct {
	Room    int           // entries that may wait for the store
	Batch   int           // entries written at once, at most
	Every   time.Duration // longest wait of an entry for others to be written with
	Timeout time.Duration // of one write
	Codes   int           // codes whose last wait is remembered
	// Count is told what became of entries: Written, Dropped or Failed.
	Count  func(ctx context.Context, fate string, entries int)
	Now    func() time.Time
	Logger *slog.Logger
}

// Recorder takes entries and has them written by and by. Whoever notes something
// never waits, and nothing is held up by a store that is slow or away: what has no
// room is dropped and counted. It is safe for concurrent use.
type Recorder struct {
	store   Store
	opts    Options
	waiting chan Noted
	waits   *recent.Map[push.Ref, reason.Reason] // what a code's push waits for
	dropped atomic.Int64
}

// NewRecorder returns a Recorder; nothing is written before Run.
func NewRecorder(store Store, opts Options) *Recorder {
	return &Recorder{store: store, opts: opts, waiting: make(chan Noted, opts.Room), waits: recent.NewMap[push.Ref, reason.Reason](opts.Codes)}
}

// Changed notes a push, and the event behind it.
func (r *Recorder) Changed(ctx context.Context, c push.Change) {
	r.waits.Delete(c.Ref)
	r.note(Noted{c.Ref, ledTo(ctx, OfChange(c))})
}

// Refused notes a push that WeCom did not take, or of which nobody knows.
func (r *Recorder) Refused(ctx context.Context, refusal push.Refusal) {
	r.note(Noted{refusal.Ref, ledTo(ctx, OfRefusal(refusal))})
}

// Ended notes what a refresh has to wait for, once for as long as it is the same.
func (r *Recorder) Ended(ctx context.Context, ref push.Ref, out push.Outcome) {
	entry, waits := OfOutcome(out, r.opts.Now())
	if !waits {
		r.waits.Delete(ref)
		return
	}
	known := false
	r.waits.Update(ref, func(last reason.Reason, there bool) reason.Reason {
		known = there && last == entry.Cause
		return entry.Cause
	})
	if !known {
		r.note(Noted{ref, ledTo(ctx, entry)})
	}
}

// Full notes an addition that brought a staff member to a ceiling, or beyond it.
func (r *Recorder) Full(ctx context.Context, of quota.Counting, c quota.Ceiling) {
	ref := push.Ref{Tenant: of.Tenant, Code: of.Code}
	r.note(Noted{ref, ledTo(ctx, Entry{At: r.opts.Now(), Kind: Full, Cause: c.Kind, Staff: of.Staff, Count: c.Count, Limit: c.Limit})})
}

func (r *Recorder) note(n Noted) {
	select {
	case r.waiting <- n:
	default:
		r.dropped.Add(1)
	}
}

// Run writes until ctx ends, and then what still waits, for Timeout at most.
func (r *Recorder) Run(ctx context.Context) {
	tick := time.NewTicker(r.opts.Every)
	defer tick.Stop()
	batch := make([]Noted, 0, r.opts.Batch)
	for {
		select {
		case n := <-r.waiting:
			if batch = append(batch, n); len(batch) == r.opts.Batch {
				batch = r.write(ctx, batch)
			}
		case <-tick.C:
			batch = r.write(ctx, batch)
		case <-ctx.Done():
			r.rest(context.WithoutCancel(ctx), batch)
			return
		}
	}
}

// rest writes what was noted before the end.
func (r *Recorder) rest(ctx context.Context, batch []Noted) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	for {
		select {
		case n := <-r.waiting:
			if batch = append(batch, n); len(batch) == r.opts.Batch {
				batch = r.write(ctx, batch)
			}
		default:
			r.write(ctx, batch)
			return
		}
	}
}

// write returns an empty batch, whatever became of this one.
func (r *Recorder) write(ctx context.Context, batch []Noted) []Noted {
	if n := r.dropped.Swap(0); n > 0 {
		r.opts.Count(ctx, Dropped, int(n))
	}
	if len(batch) == 0 {
		return batch
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.Timeout)
	defer cancel()
	if err := r.store.Append(ctx, batch); err != nil {
		r.opts.Count(ctx, Failed, len(batch))
		r.opts.Logger.WarnContext(ctx, "entries of the trail are lost", "entries", len(batch), "error", err)
		return batch[:0]
	}
	r.opts.Count(ctx, Written, len(batch))
	return batch[:0]
}
