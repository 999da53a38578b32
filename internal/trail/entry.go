package trail

import (
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Kept is how many entries of a code are kept, the newest.
const Kept = 64

// Kind is what an entry tells of.
type Kind string

// The kinds.
const (
	Pushed Kind = "pushed" // WeCom has another list
	Waits  Kind = "waits"  // a push begins to wait, or waits for something else
	Full   Kind = "full"   // somebody was added and is at a ceiling, or beyond it
)

// Entry is one thing that happened to a code. Fields of other kinds are zero.
type Entry struct {
	At   time.Time
	Kind Kind

	// Of Pushed.
	Epoch int64
	Moves []Move
	Size  int // of the list from then on

	// Of Waits; of Full the ceiling.
	Cause  reason.Reason
	Until  time.Time // zero: nobody knows
	Detail string

	// Of Full: the additions, this one included, and how many there may be.
	Staff        string
	Count, Limit int
}

// Beyond reports an addition that should not have been.
func (e Entry) Beyond() bool { return e.Kind == Full && e.Count > e.Limit }

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
