package trail

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// How much of a code's trail is kept, the newest of each kind. A code that fails
// for days does not lose what happened before.
const (
	Kept        = 64 // pushes; fewer where epochs ended without one
	KeptWaits   = 32
	KeptFull    = 32
	KeptRefused = 16
	// KeptFor is how old an entry becomes.
	KeptFor = 90 * 24 * time.Hour
)

// Kind is what an entry tells of.
type Kind string

// The kinds.
const (
	Pushed  Kind = "pushed"  // WeCom has another list
	Refused Kind = "refused" // WeCom did not take a push, or nobody knows, or no record has it
	Waits   Kind = "waits"   // a push begins to wait, or waits for something else
	Full    Kind = "full"    // somebody was added and is at a ceiling, or beyond it
)

// Entry is one thing that happened to a code. Fields of other kinds are zero.
type Entry struct {
	At   time.Time
	Kind Kind

	// Trigger is the event that led there; zero: none is known, as of an entry of
	// Full, which is an event itself.
	Trigger Trigger
	Trace   string // its trace ID in OpenTelemetry, hex; "": it is not traced

	// Of Pushed and Refused.
	Epoch int64
	// Of Pushed.
	Moves []Move
	Size  int // of the list from then on
	// Of Refused.
	Unknown bool // WeCom may hold the list all the same

	// Of Refused and Waits; of Full the ceiling.
	Cause  reason.Reason
	Until  time.Time // zero: nobody knows
	Detail string

	// Of Full: the additions, this one included, and how many there may be.
	Staff        string
	Count, Limit int
}

// Beyond reports an addition that should not have been.
func (e Entry) Beyond() bool { return e.Kind == Full && e.Count > e.Limit }

// Trigger is an event for which a list was looked at.
type Trigger struct {
	Reason      string // the producer's word
	Message     string // the broker's name of it: ledger:entry:partition
	PublishedAt time.Time
}

// Move is one staff member who came onto the list or left it.
type Move struct {
	Staff string
	Came  bool
	// Why is the verdict's reason; "" is somebody whom the code does not name.
	Why reason.Reason
}

// Noted is an entry of a code.
type Noted struct {
	push.Ref
	Entry
}

// OfChange is the entry of a push.
func OfChange(c push.Change) Entry {
	return Entry{At: c.At, Kind: Pushed, Epoch: c.Epoch, Moves: moves(c.Before, c.After, c.PerStaff), Size: len(c.After)}
}

// OfRefusal is the entry of a push that no record tells of.
func OfRefusal(r push.Refusal) Entry {
	return Entry{At: r.At, Kind: Refused, Epoch: r.Epoch, Cause: r.Class, Unknown: r.Unknown, Detail: r.Detail}
}

// ledTo notes what an entry came from: the event and the trace that ctx is of.
func ledTo(ctx context.Context, e Entry) Entry {
	if t, ok := intake.TriggerOf(ctx); ok {
		e.Trigger = Trigger{Reason: t.Reason, Message: t.Message.String(), PublishedAt: t.PublishedAt}
	}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() && span.IsSampled() {
		e.Trace = span.TraceID().String()
	}
	return e
}

// moves are those who left, then those who came, each in the order of their list.
func moves(before, after []string, judged []roster.Judgement) []Move {
	why := make(map[string]reason.Reason, len(judged))
	for _, j := range judged {
		why[j.Staff] = j.Reason
	}
	var all []Move
	for _, staff := range before {
		if !slices.Contains(after, staff) {
			all = append(all, Move{Staff: staff, Why: why[staff]})
		}
	}
	for _, staff := range after {
		if !slices.Contains(before, staff) {
			all = append(all, Move{Staff: staff, Came: true, Why: why[staff]})
		}
	}
	return all
}

// OfOutcome is the entry of a refresh that did not get its list to WeCom; false
// for one that did, or had nothing to push.
func OfOutcome(out push.Outcome, at time.Time) (Entry, bool) {
	e := Entry{At: at, Kind: Waits}
	switch out := out.(type) {
	case push.Hold:
		e.Cause, e.Until = out.Cause, out.Until
	case push.Park:
		e.Cause, e.Until, e.Detail = out.Mark.Reason, out.Mark.Due, out.Mark.Detail
	case push.Fail:
		e.Cause = out.Class
		if out.Err != nil {
			e.Detail = out.Err.Error()
		}
	default:
		return Entry{}, false
	}
	return e, true
}
