package roster

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Verdict is what the facts of a code ask for at one instant.
type Verdict struct {
	// Members is the list for WeCom's config: sorted, without repetition, 1 to
	// MaxListed entries; or empty, when nobody can be listed and nothing may
	// be sent (Notes then holds reason.NobodyLeft).
	Members []string
	// Hash identifies all that a push sends: Members, remark, state, verification.
	Hash string
	// Rotation is the rotation set in order; empty for Native codes.
	Rotation []Seat
	// Round is the rotation round the verdict is for. It is Counters.Round, or
	// one more when every eligible member is at the round limit; the round has
	// then to be advanced in the facts before the list is pushed.
	Round    int64
	PerStaff []Judgement // members in order, then backups or fallback staff
	Lane     Lane
	Notes    []reason.Reason
	// NextChange is the next instant at which time alone changes the verdict;
	// zero when it never does.
	NextChange time.Time
}

// Judgement says of one staff member whether he is on the list, and why.
type Judgement struct {
	Staff    string
	Included bool
	Reason   reason.Reason
}

// Seat is a member's place in the rotation set.
type Seat struct {
	Staff string
	// Headroom is how many more additions the member may take before his
	// nearest ceiling; negative: no ceiling.
	Headroom int
	// Counted is the member's additions on this code, ever, that Headroom
	// already accounts for.
	Counted int
}

// LaneSwitch is an operator's word on the lane.
type LaneSwitch string

const (
	// LaneAuto follows the rules.
	LaneAuto LaneSwitch = ""
	// LaneFast forces the fast lane.
	LaneFast LaneSwitch = "fast"
	// LaneSlow forces the slow lane.
	LaneSlow LaneSwitch = "slow"
)

// Lane is how soon a change of a code is pushed. Interval 0 is the fast lane;
// otherwise a push is due not before the last commit + Interval.
type Lane struct {
	Interval time.Duration
}

// Slow reports whether the lane delays pushes.
func (l Lane) Slow() bool { return l.Interval > 0 }

// NotBefore returns the earliest instant of a push after one at last.
func (l Lane) NotBefore(last time.Time) time.Time { return last.Add(l.Interval) }

// Removes reports whether the verdict's list lacks somebody of before: such a
// push stops harm and goes first.
func (v Verdict) Removes(before []string) bool {
	have := make(map[string]struct{}, len(v.Members))
	for _, m := range v.Members {
		have[m] = struct{}{}
	}
	for _, m := range before {
		if _, ok := have[m]; !ok {
			return true
		}
	}
	return false
}
