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
// goroutines, and must not wait. ctx carries the span that tells of the same.
type Observer interface {
	Ended(ctx context.Context, e Ended)
	// Paced tells of a code that pauses for having run often: a hold that no
	// refresh ended with.
	Paced(ctx context.Context)
	// Acked tells of one message that is done with: Pushed, Unchanged, Deleted,
	// Coalesced, the reason of a park or the cause of a dead letter.
	Acked(ctx context.Context, why reason.Reason)
	// Nacked tells of one message that went back to the broker: the cause of a
	// hold whose time has come, HandedBack, or the cause of a dead letter that
	// could not be stored yet.
	Nacked(ctx context.Context, why reason.Reason)
	Redelivered(ctx context.Context)
	DeadLettered(ctx context.Context, cause reason.Reason)
}
