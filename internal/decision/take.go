package decision

import (
	"context"
	"errors"
	"fmt"
)

// Book is where decisions are recorded.
type Book interface {
	// Begin records a decision durably, in the state Begun.
	Begin(ctx context.Context, d Decision) error
	// End records how it ended: state is Done or Failed, failure says why.
	End(ctx context.Context, id string, state State, failure string) error
}

// Take records a decision, acts upon it, and records how that ended.
//
// The record comes first: a decision that took effect is then in the book
// whatever dies when. Recorded after the act, it would be lost with a process
// that ends in between, and nobody could tell who had dropped a code. What the
// order costs is a decision that is Begun for ever when the process died beside
// the act, or the last write failed: whether it took effect shows in its
// subject, and every act may be repeated, as a decision of its own. A decision
// that is not recorded is not acted upon.
//
// The error is that of the record, or that of act, which is in the book too.
func Take(ctx context.Context, book Book, d Decision, act func(context.Context) error) error {
	if err := d.check(); err != nil {
		return err
	}
	if err := book.Begin(ctx, d); err != nil {
		return fmt.Errorf("record the decision, which was not acted upon: %w", err)
	}
	state, failure := Done, ""
	err := act(ctx)
	if err != nil {
		state, failure = Failed, err.Error()
	}
	if wrong := book.End(context.WithoutCancel(ctx), d.ID, state, failure); wrong != nil {
		err = errors.Join(err, fmt.Errorf("the decision %s is %s, and its record still says %s: %w", d.ID, state, Begun, wrong))
	}
	return err
}
