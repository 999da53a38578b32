package spot

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// State is how far a difference is.
type State string

// The states of a difference. Open and Repairing last until a later check agrees;
// Repaired and Vanished are ends.
const (
	Open      State = "open"      // found; the policy is to leave it to a person
	Repairing State = "repairing" // found; the code is pushed again
	Repaired  State = "repaired"  // was repairing, and a later check agreed
	Vanished  State = "vanished"  // was left alone, and a later check agreed
)

// States returns the states, for a person to choose from.
func States() []State { return []State{Open, Repairing, Repaired, Vanished} }

// Ended reports whether a later check agreed.
func (s State) Ended() bool { return s == Repaired || s == Vanished }

// Difference is what is known of a code that WeCom holds otherwise than it
// should. Only the last one of a code is kept.
type Difference struct {
	push.Ref
	// Version grows with every write; 0 was never stored.
	Version int64
	Cause   reason.Reason // ForeignEdit, Gone or AttributesDiffer
	Ours    Way
	Theirs  Way // zero for Gone
	State   State
	// SinceAtLeast is the last instant at which WeCom is known to have held ours:
	// it was changed after.
	SinceAtLeast time.Time
	SeenAt       time.Time // of the first check that found it
	LastSeen     time.Time // of the last one
	Times        int       // checks that found it
	// AgreedAt is the last check that agreed, since differences of the code are
	// kept; zero: none.
	AgreedAt time.Time
	// VendorCalls is how many looks it has cost, the one that ended it included.
	VendorCalls int
}

// sighting is one check that found a difference.
type sighting struct {
	cause        reason.Reason
	ours, theirs Way
	state        State
	committed    time.Time // when ours was last pushed; zero in shadow mode
	at           time.Time
}

// seen adds a sighting. One after an end begins a new difference.
func (d Difference) seen(s sighting) Difference {
	if d.Version == 0 || d.State.Ended() {
		d.SinceAtLeast, d.SeenAt, d.Times, d.VendorCalls = later(s.committed, d.AgreedAt), s.at, 0, 0
	}
	d.SinceAtLeast = later(d.SinceAtLeast, s.committed) // pushed meanwhile, and changed again
	d.Cause, d.Ours, d.Theirs, d.State = s.cause, s.ours, s.theirs, s.state
	d.LastSeen = s.at
	d.Times++
	d.VendorCalls++
	return d
}

// agreed adds a check that found nothing.
func (d Difference) agreed(at time.Time) Difference {
	d.AgreedAt = later(d.AgreedAt, at)
	if d.State.Ended() {
		return d
	}
	d.VendorCalls++
	if d.State == Repairing {
		d.State = Repaired
	} else {
		d.State = Vanished
	}
	return d
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
