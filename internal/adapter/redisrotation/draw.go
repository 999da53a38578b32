package redisrotation

import (
	"context"
	"errors"
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Errors of Draw.
var (
	// ErrNoSet: the code has no rotation set; it was never written, or deleted.
	ErrNoSet = errors.New("no rotation set")
	// ErrExhausted: the set has nobody with headroom. The next Replace may
	// change that.
	ErrExhausted = errors.New("nobody in the rotation set has headroom")
)

// Drawn is the member who takes the next customer.
type Drawn struct {
	Staff string
	Round int64 // the round the set is for
	// Lap and Position are the cursor: how often the draw has gone round the
	// set, and the member's place in it, both from 0.
	Lap      int64
	Position int
}

// Draw takes the next member in order and one of his headroom. The error is,
// or wraps, ErrNoSet, ErrExhausted or that of Redis.
func (r *Rotation) Draw(ctx context.Context, ref push.Ref) (Drawn, error) {
	res, err := drawScript.Run(ctx, r.client, r.keysOf(ref).all(), r.now()).Slice()
	if err == nil {
		var d Drawn
		if d, err = parseDrawn(res); err == nil {
			return d, nil
		}
	}
	return Drawn{}, fmt.Errorf("draw from the rotation set of code %s: %w", ref.Code, err)
}

// Statuses of the draw script.
const (
	statusDrawn     = 0
	statusNoSet     = 1
	statusExhausted = 2
)

func parseDrawn(res []any) (Drawn, error) {
	if len(res) == 0 {
		return Drawn{}, errReply
	}
	switch res[0] {
	case int64(statusNoSet):
		return Drawn{}, ErrNoSet
	case int64(statusExhausted):
		return Drawn{}, ErrExhausted
	case int64(statusDrawn):
	default:
		return Drawn{}, errReply
	}
	if len(res) != 5 {
		return Drawn{}, errReply
	}
	staff, ok1 := res[1].(string)
	round, ok2 := res[2].(int64)
	lap, ok3 := res[3].(int64)
	position, ok4 := res[4].(int64)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return Drawn{}, errReply
	}
	return Drawn{Staff: staff, Round: round, Lap: lap, Position: int(position)}, nil
}
