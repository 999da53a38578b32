package push

import "github.com/rollcall-dev/rollcall/internal/reason"

// DirtyState is where a dirty code stands. Of several marks the one with the
// smallest state counts.
type DirtyState int

const (
	// DirtyWaits: work that only has to wait, and comes back at its tenant's own
	// pace.
	DirtyWaits DirtyState = iota
	// DirtyRepair: something to mend, which comes back in the part of the pace
	// that is kept for it.
	DirtyRepair
	// DirtyReleased: the broker has had its event. The code stays in the set
	// until it agrees with its facts.
	DirtyReleased
)

// StateOf returns where a mark with a reason puts a code.
func StateOf(why reason.Reason) DirtyState {
	if why.Repairs() {
		return DirtyRepair
	}
	return DirtyWaits
}

// String returns the state's word.
func (s DirtyState) String() string {
	switch s {
	case DirtyWaits:
		return "waits"
	case DirtyRepair:
		return "repair"
	case DirtyReleased:
		return "released"
	}
	return "unknown"
}
