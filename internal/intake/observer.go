package intake

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// The outcomes of a refresh, as metric labels and span attributes.
const (
	OutcomeDone = "done"
	OutcomeHold = "hold"
	OutcomePark = "park"
	OutcomeFail = "fail"
)

// Ended is the end of one refresh.
type Ended struct {
	Outcome  string
	Reason   reason.Reason
	Duration time.Duration // of the refresh itself
	// Freshness is the age of the earliest event that the refresh covered;
	// only with OutcomeDone.
	Freshness time.Duration
	Waited    reason.Reason // what the code waited for before; "" is nothing
}

// Observer counts what happens. Its methods are called often, from several
// goroutines, and must not wait.
type Observer interface {
	Ended(ctx context.Context, e Ended)
	Coalesced(n int)
	Redelivered()
	DeadLettered(cause reason.Reason)
	HandedBack(n int)
}
