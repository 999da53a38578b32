package intake

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Ended is the end of one refresh.
type Ended struct {
	// Outcome is what the intake made of the refresh's: a hold beyond MaxHeld
	// is a park, a park that could not be stored a failure.
	Outcome  push.Outcome
	Duration time.Duration // of the refresh itself
	// Freshness is the age of the earliest event that the refresh covered;
	// only of a push.Done.
	Freshness time.Duration
	Waited    reason.Reason // what the code waited for before; "" is nothing
}

// Observer counts what happens. Its methods are called often, from several
// goroutines, and must not wait.
type Observer interface {
	Ended(ctx context.Context, e Ended)
	Coalesced(ctx context.Context, n int)
	Redelivered(ctx context.Context)
	DeadLettered(ctx context.Context, cause reason.Reason)
	HandedBack(ctx context.Context, n int)
}
