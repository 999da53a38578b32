package push

import (
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Record is what Rollcall knows about its own pushes of a code, and the fence
// that keeps a superseded instance from committing.
type Record struct {
	Code string
	// Epoch grows by one with every Begin; 0 is a code that was never pushed.
	Epoch     int64
	Committed Committed
	// Intents are calls whose outcome is not known yet. While there is one,
	// what WeCom holds is unknown: nothing is deduplicated.
	Intents []Intent
	Failure Failure
	// Search is for the member for whom WeCom refused the list.
	Search Search
	// NextChange is when the keeper publishes the code, because time alone
	// changes its verdict then; zero: never. It is not later than any refresh
	// has expected since the keeper last took it out, and may be earlier.
	NextChange time.Time
}

// Expects reports whether the keeper publishes the code at an instant, or
// before; the zero instant asks for nothing.
func (r Record) Expects(at time.Time) bool {
	return at.IsZero() || !r.NextChange.IsZero() && !r.NextChange.After(at)
}

// Last is what deciding needs to know of the last push.
func (r Record) Last() roster.Last {
	return roster.Last{
		Members:  r.Committed.Members,
		Revision: r.Committed.Revision,
		At:       r.Committed.At,
		Kept:     slices.Contains(r.Committed.Notes, reason.NobodyLeft),
	}
}

// Committed is the last list that WeCom is known to hold or to have held.
type Committed struct {
	Members  []string
	Hash     string // roster.Verdict.Hash
	Epoch    int64
	At       time.Time
	Revision int64 // roster.Code.Revision it was decided from
	Notes    []reason.Reason
	// Rotates says that the code had a rotation set.
	Rotates bool
}

// Intent announces a call before it is made.
type Intent struct {
	Epoch    int64
	Hash     string
	Owner    string    // the instance, for a person
	Deadline time.Time // the call is never sent after it
}

// Failure is the run of failures since the last success; the zero value is
// none. It is in the record so that neither a restart nor a rebalance resets
// a backoff.
type Failure struct {
	Streak    int
	Class     reason.Reason
	ErrCode   int
	Message   string
	NotBefore time.Time
}
