package draw

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

const (
	// rebuildLimit bounds the making of one set.
	rebuildLimit = 5 * time.Second
	// rebuildRounds is how often the facts are read again because the round
	// had to be advanced or somebody else wrote a set.
	rebuildRounds = 4
)

var errUnstable = errors.New("the facts of the code changed again and again")

// rebuilder makes missing sets from the facts, as the push protocol does: the
// set's version is read before the facts, and the set is written only if it is
// still the one.
type rebuilder struct {
	sets  Sets
	facts Facts
	now   func() time.Time
}

// rebuild writes the set of a code, unless somebody else has. The error is, or
// wraps, ErrUnknown, ErrNative, ErrDeleted, ErrInvalid or ErrUnavailable.
//
// Draws that the lost set had not seen counted are lost with it: until their
// additions are counted, a member may be drawn that often beyond his ceiling.
func (r *rebuilder) rebuild(ctx context.Context, ref push.Ref) error {
	for range rebuildRounds {
		version, err := r.sets.Version(ctx, ref)
		if err != nil {
			return errors.Join(ErrUnavailable, err)
		}
		if version != 0 {
			return nil
		}
		verdict, advanced, err := r.decide(ctx, ref)
		if err != nil {
			return err
		}
		if advanced {
			continue
		}
		set := push.Set{Round: verdict.Round, Seats: verdict.Rotation}
		_, _, err = r.sets.Replace(ctx, ref, version, set)
		if err != nil {
			return errors.Join(ErrUnavailable, err)
		}
		return nil // won or lost: there is a set, and not an older one
	}
	return errors.Join(ErrUnavailable, errUnstable)
}

// decide reads the facts and decides. advanced says that the rotation round
// was moved on and that the facts have to be read again.
func (r *rebuilder) decide(ctx context.Context, ref push.Ref) (verdict roster.Verdict, advanced bool, err error) {
	facts, record, err := r.facts.Load(ctx, ref)
	switch {
	case err != nil:
		return roster.Verdict{}, false, unreadable(err)
	case facts.Code.Deleted:
		return roster.Verdict{}, false, ErrDeleted
	case !facts.Code.Family.Rotates():
		return roster.Verdict{}, false, ErrNative
	}
	// The lanes are about pushes; a set does not depend on them.
	verdict, err = roster.Decide(facts, record.Last(), roster.LaneRules{}, r.now())
	if err != nil {
		return roster.Verdict{}, false, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if verdict.Round == facts.Counters.Round {
		return verdict, false, nil
	}
	if _, err := r.facts.AdvanceRound(ctx, ref, facts.Counters.Round); err != nil {
		return roster.Verdict{}, false, errors.Join(ErrUnavailable, err)
	}
	return roster.Verdict{}, true, nil
}
