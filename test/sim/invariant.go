package sim

import "fmt"

// Invariant is something that holds whatever happens.
type Invariant string

// What is checked at the end of a run, when nothing is left to do.
const (
	// Converged: WeCom lists whom the facts ask for.
	Converged Invariant = "wecom lists whom the facts ask for"
	// SetConverged: so does the rotation set.
	SetConverged Invariant = "the rotation set holds whom the facts ask for"
	// RecordTrue: the record says what WeCom holds.
	RecordTrue Invariant = "the record says what wecom holds"
	// Ends: every event is acked, or its code is dirty for a reason that only
	// its facts can end.
	Ends Invariant = "every event ends"
)

// What is checked all the time.
const (
	// Announced: a call takes effect only while its intent is open.
	Announced Invariant = "no call lands after its intent was settled"
	// AckedLast: an event is acked as pushed only when no call that was
	// announced before can land any more. With Announced: no list from older
	// facts lands after a newer one was committed and acked.
	AckedLast Invariant = "no call is open when an event is acked"
	// NewerFacts: a list is not committed after one from newer facts.
	NewerFacts Invariant = "no list is committed after one from newer facts"
	// Expected: of a code without an event the keeper knows when time alone
	// changes its verdict, or earlier.
	Expected Invariant = "the keeper knows of every change by time"
	// OneWorker: a process has at most one worker on a code.
	OneWorker Invariant = "one worker a code and process"
	// OneMessage: a consumer keeps at most one un-acked message of a code.
	OneMessage Invariant = "one un-acked message a code and consumer"
	// FirmBackoff: no call is made before the end of a failure's backoff.
	FirmBackoff Invariant = "no call before a failure's backoff ends"
	// HoldBounded: no hold is longer than MaxHold.
	HoldBounded Invariant = "no hold is longer than MaxHold"
	// HeldBounded: not more than MaxHeld codes wait for something other than
	// the store.
	HeldBounded Invariant = "no more than MaxHeld codes are held"
	// WithinBudget: no window of the vendor's is ever exceeded.
	WithinBudget Invariant = "the vendor's windows are never exceeded"
	// Admitted: no call is sent when its admission has run out.
	Admitted Invariant = "no call after its admission ran out"
	// BadOnly: nobody goes into quarantine whom WeCom never refused.
	BadOnly Invariant = "nobody is quarantined who was never refused"
	// OneProbe: of a suspended tenant one call at a time is made.
	OneProbe Invariant = "one probe at a time of a suspended tenant"
	// Fair: no tenant waits while another has several turns.
	Fair Invariant = "tenants take turns"
	// DirtyFirst: a parked code is in the dirty set before its message is acked.
	DirtyFirst Invariant = "dirty first, acked second"
)

// Fault is an invariant that did not hold.
type Fault struct {
	Seed      uint64
	Invariant Invariant
	Detail    string
}

// Error names the invariant, the seed to play it again, and what was seen.
func (f *Fault) Error() string {
	return fmt.Sprintf("seed %d breaks %q: %s", f.Seed, f.Invariant, f.Detail)
}
