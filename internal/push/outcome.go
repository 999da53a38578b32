package push

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Outcome is how one event of a code ended: Done, Hold, Park or Fail.
type Outcome interface{ outcome() }

// Done: the facts observed are pushed, or nothing had to be. The messages
// observed are acked.
type Done struct {
	Reason reason.Reason // Pushed, Unchanged, Deleted, NobodyLeft
	// NextChange is when time alone changes the verdict; zero: never.
	NextChange time.Time
	Slow       bool // the code is in the slow lane
}

// Hold: come back at Until. Not a failure.
type Hold struct {
	Until time.Time
	Cause reason.Reason
}

// Park: the code is, or has to be, in the dirty set with this due time; its
// messages are acked once it is.
type Park struct {
	Mark Mark
}

// Fail: nothing could be decided or recorded, not even the failure (the store
// cannot be asked, a panic). The intake holds the code with a backoff of its
// own.
type Fail struct {
	Class reason.Reason
	Err   error
}

func (Done) outcome() {}
func (Hold) outcome() {}
func (Park) outcome() {}
func (Fail) outcome() {}

// Describe returns the kind of an outcome (done, hold, park, fail) and its
// reason, as logs, metrics and traces show them.
func Describe(o Outcome) (string, reason.Reason) {
	switch o := o.(type) {
	case Done:
		return "done", o.Reason
	case Hold:
		return "hold", o.Cause
	case Park:
		return "park", o.Mark.Reason
	case Fail:
		return "fail", o.Class
	}
	return "none", ""
}
