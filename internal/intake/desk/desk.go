package desk

import (
	"errors"
	"time"

	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

const (
	// panickedDue is when a code that panics again and again is tried anew.
	panickedDue = time.Hour
	// sweepLead is how much earlier than its hold would end a parked code is due,
	// since it comes back by a sweep of the keeper and through the broker: it may
	// have booked a slot that can be used for a moment only.
	sweepLead = 1500 * time.Millisecond
	// shedBatch is how many codes are shed at once.
	shedBatch = 500
	// maxDoublings bounds the doubling of Stumble.
	maxDoublings = 6
)

var errNoOutcome = errors.New("the refresh ended without an outcome")

// Options of a Desk. All are required.
type Options[M any] struct {
	Queue keyqueue.Options[M]
	// MaxHeld is how many codes may be un-acked here at once. Three quarters of
	// them may be held; beyond that a wait is a park. Beyond three quarters in
	// all the longest lines of ready codes are shed.
	MaxHeld int
	// Line is how many codes of a tenant may stand in line for a worker
	// whatever the others do.
	Line int
	// Stumble is the wait after a refresh that could not even record its
	// failure; it doubles with every redelivery, up to Queue.MaxHold.
	Stumble time.Duration
	// MaxPanics is how many redeliveries a code that panics gets before it
	// becomes dirty.
	MaxPanics uint32
	// Redeliveries is how often the broker has delivered a message again.
	Redeliveries func(M) uint32
}

// Desk is the keyed queue of one consumer with the rules for what its workers
// bring back. Its methods are not safe for concurrent use.
type Desk[M any] struct {
	*keyqueue.Queue[M]
	opts Options[M]
}

// New returns an empty Desk.
func New[M any](opts Options[M]) *Desk[M] {
	return &Desk[M]{Queue: keyqueue.New(opts.Queue), opts: opts}
}

// Settlement is what is to be done about a code whose refresh has ended.
type Settlement[M any] struct {
	// Outcome is what became of the refresh's: a hold beyond MaxHeld is a
	// park, a park that could not be stored a failure.
	Outcome push.Outcome
	// Mark, when set, has to be stored in the dirty set before anything else;
	// the code stays in work until Marked is told.
	Mark *push.Mark
	// Ending tells the messages to ack, and what the work covered.
	keyqueue.Ending[M]
}

// Settle ends the work on a code. When the Settlement has a Mark the code is
// still in work.
func (d *Desk[M]) Settle(work keyqueue.Work[M], outcome push.Outcome, now time.Time) Settlement[M] {
	switch out := outcome.(type) {
	case push.Done:
		return Settlement[M]{Outcome: out, Ending: d.Done(work.Key, now)}
	case push.Hold:
		return d.hold(work, out, now)
	case push.Park:
		return Settlement[M]{Outcome: out, Mark: &out.Mark}
	case push.Fail:
		return d.fail(work, out, now)
	}
	return d.fail(work, push.Fail{Class: reason.Panicked, Err: errNoOutcome}, now)
}

// Marked ends the work on a code whose mark was to be stored; err is what came
// of that. A code that the dirty set now holds is to be acked, another waits
// here.
func (d *Desk[M]) Marked(work keyqueue.Work[M], mark push.Mark, err error, now time.Time) Settlement[M] {
	if err != nil {
		return d.stumble(work, push.Fail{Class: reason.StoreDown, Err: err}, now)
	}
	return Settlement[M]{Outcome: push.Park{Mark: mark}, Ending: d.Park(work.Key, now)}
}

// hold lets the code wait here, or in the dirty set when too many do already.
func (d *Desk[M]) hold(work keyqueue.Work[M], out push.Hold, now time.Time) Settlement[M] {
	if d.Held() < threeQuarters(d.opts.MaxHeld) {
		d.Hold(work.Key, keyqueue.Wait{Until: out.Until, Cause: out.Cause, Firm: out.Cause.Firm()}, now)
		return Settlement[M]{Outcome: out}
	}
	mark := d.mark(work, reason.Overflow, "too many codes are held; this one waits for: "+out.Cause.String(), out.Until.Add(-sweepLead))
	return Settlement[M]{Outcome: push.Park{Mark: mark}, Mark: &mark}
}

// fail holds a code whose failure nobody could record, unless it panics again
// and again: that is a bug which only a new build helps.
func (d *Desk[M]) fail(work keyqueue.Work[M], out push.Fail, now time.Time) Settlement[M] {
	if out.Class != reason.Panicked || d.opts.Redeliveries(work.Message) < max(d.opts.MaxPanics, 1) {
		return d.stumble(work, out, now)
	}
	mark := d.mark(work, reason.Panicked, out.Err.Error(), now.Add(panickedDue))
	return Settlement[M]{Outcome: push.Park{Mark: mark}, Mark: &mark}
}

// stumble holds the code even beyond MaxHeld: there is no other place for it.
func (d *Desk[M]) stumble(work keyqueue.Work[M], out push.Fail, now time.Time) Settlement[M] {
	wait := min(d.opts.Stumble<<min(d.opts.Redeliveries(work.Message), maxDoublings), d.opts.Queue.MaxHold)
	d.Hold(work.Key, keyqueue.Wait{Until: now.Add(wait), Cause: out.Class, Firm: true}, now)
	return Settlement[M]{Outcome: out}
}

// Crowded reports that Shed has something to do.
func (d *Desk[M]) Crowded() bool { return d.Unacked() > d.crowd() }

func (d *Desk[M]) crowd() int { return max(threeQuarters(d.opts.MaxHeld), 3*d.opts.Line) }

// Full reports that no more codes may be taken in for the moment.
func (d *Desk[M]) Full() bool { return d.Unacked() >= max(d.opts.MaxHeld, 4*d.opts.Line) }

// Shed takes codes out of the longest lines when too many are un-acked here.
// They are in work until Marked is told of the mark that goes with each. None:
// there are not too many, or no line is long.
func (d *Desk[M]) Shed(now time.Time) ([]keyqueue.Work[M], []push.Mark) {
	if !d.Crowded() {
		return nil, nil
	}
	over := d.Unacked() - d.crowd()
	works := d.Queue.Shed(min(over+d.crowd()/8, shedBatch), d.opts.Line)
	marks := make([]push.Mark, len(works))
	for i, work := range works {
		marks[i] = d.mark(work, reason.Overflow, "too many codes stand in line for a worker", now)
	}
	return works, marks
}

func threeQuarters(n int) int { return n - n/4 }

func (d *Desk[M]) mark(work keyqueue.Work[M], why reason.Reason, detail string, due time.Time) push.Mark {
	return push.Mark{Ref: push.Ref{Tenant: work.Tenant, Code: work.Code}, Reason: why, Detail: detail, Due: due}
}
