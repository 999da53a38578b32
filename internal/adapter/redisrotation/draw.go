package redisrotation

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
)

var (
	_ draw.Sets  = (*Rotation)(nil)
	_ draw.Trail = (*Rotation)(nil)
)

// Draw takes the next member in order and one of his headroom, in one round
// trip. A key that was answered less than Options.RepeatWithin ago gets the
// same answer, and nothing is drawn; "" never repeats. The error is, or wraps,
// draw.ErrNoSet, draw.ErrExhausted or that of Redis.
func (r *Rotation) Draw(ctx context.Context, ref push.Ref, key string) (draw.Turn, error) {
	k := r.keysOf(ref)
	touched := k.all()
	if key != "" {
		touched = append(touched, k.answer(key))
	}
	res, err := drawScript.Run(ctx, r.client, touched, r.now(), r.trail, r.repeat.Milliseconds()).Slice()
	if err == nil {
		var turn draw.Turn
		if turn, err = parseTurn(res); err == nil {
			return turn, nil
		}
	}
	return draw.Turn{}, fmt.Errorf("draw from the rotation set of code %s: %w", ref.Code, err)
}

// answer is the key of a request's answer. It has one length, whatever the
// request's key is.
func (k keys) answer(key string) string {
	sum := sha256.Sum256([]byte(key))
	return k.base + "answer:" + base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Statuses of the draw script.
const (
	statusDrawn     = 0
	statusNoSet     = 1
	statusExhausted = 2
	statusRepeated  = 3
)

func parseTurn(res []any) (draw.Turn, error) {
	if len(res) == 0 {
		return draw.Turn{}, errReply
	}
	status, ok := res[0].(int64)
	switch {
	case ok && status == statusNoSet:
		return draw.Turn{}, draw.ErrNoSet
	case ok && status == statusExhausted:
		return draw.Turn{}, draw.ErrExhausted
	case !ok || status != statusDrawn && status != statusRepeated || len(res) != 5:
		return draw.Turn{}, errReply
	}
	staff, ok1 := res[1].(string)
	round, ok2 := res[2].(int64)
	lap, ok3 := res[3].(int64)
	position, ok4 := res[4].(int64)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return draw.Turn{}, errReply
	}
	return draw.Turn{Staff: staff, Round: round, Lap: lap, Position: int(position), Repeated: status == statusRepeated}, nil
}
