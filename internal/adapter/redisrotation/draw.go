package redisrotation

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var (
	_ draw.Sets  = (*Rotation)(nil)
	_ draw.Trail = (*Rotation)(nil)
)

// maxPassed bounds how many members one draw passes over. Each of them is put
// aside for all who draw, so the next draw begins where this one ended.
const maxPassed = 32

// Draw takes the next member in order and one of his headroom, in one round
// trip, or two where the company has a daily total. A member who is at that
// total, with the draws of his other codes, is passed over and put aside until
// the next Replace; that takes three more round trips. A key that was answered
// less than Options.RepeatWithin ago gets the same answer, and nothing is
// drawn; "" never repeats. The error is, or wraps, draw.ErrNoSet,
// draw.ErrExhausted or that of Redis.
func (r *Rotation) Draw(ctx context.Context, ref push.Ref, key string) (draw.Turn, error) {
	turn, err := r.draw(ctx, ref, key)
	if err != nil {
		return draw.Turn{}, fmt.Errorf("draw from the rotation set of code %s: %w", ref.Code, err)
	}
	return turn, nil
}

func (r *Rotation) draw(ctx context.Context, ref push.Ref, key string) (draw.Turn, error) {
	k := r.keysOf(ref)
	for passed := range maxPassed {
		turn, seat, err := r.next(ctx, k, key)
		if err != nil {
			return draw.Turn{}, err
		}
		granted, err := r.take(ctx, ref, seat, key)
		if err != nil {
			return draw.Turn{}, err
		}
		if granted {
			turn.Passed = passed
			return turn, nil
		}
		if err := r.putBack(ctx, k, turn, key); err != nil {
			return draw.Turn{}, err
		}
	}
	return draw.Turn{}, draw.ErrExhausted
}

// next draws from one set alone. The seat says what the company's ceiling
// leaves the member, as far as this set knows.
func (r *Rotation) next(ctx context.Context, k keys, key string) (draw.Turn, roster.Seat, error) {
	res, err := drawScript.Run(ctx, r.client, k.answering(k.all(), key), r.now(), r.trail, r.repeat.Milliseconds()).Slice()
	if err != nil {
		return draw.Turn{}, roster.Seat{}, err
	}
	return parseTurn(res)
}

// putBack undoes a turn that the company's ceiling refused.
func (r *Rotation) putBack(ctx context.Context, k keys, turn draw.Turn, key string) error {
	text := fmt.Sprintf("%d %d %d %s", turn.Round, turn.Lap, turn.Position, turn.Staff)
	touched := k.answering([]string{k.due, k.members, k.trail}, key)
	if err := putBackScript.Run(ctx, r.client, touched, turn.Staff, text).Err(); err != nil {
		return fmt.Errorf("put %s back, who is at the company's ceiling: %w", turn.Staff, err)
	}
	return nil
}

// answering adds the key of a request's answer, if the request has a key.
func (k keys) answering(touched []string, key string) []string {
	if key == "" {
		return touched
	}
	return append(touched, k.answer(key))
}

// answer is the key of a request's answer. It has one length, whatever the
// request's key is.
func (k keys) answer(key string) string {
	return k.base + "answer:" + digest(key)
}

// digest is a text of one length that no two requests share.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Statuses of the draw script.
const (
	statusDrawn     = 0
	statusNoSet     = 1
	statusExhausted = 2
	statusRepeated  = 3
)

func parseTurn(res []any) (draw.Turn, roster.Seat, error) {
	if len(res) == 0 {
		return draw.Turn{}, roster.Seat{}, errReply
	}
	status, ok := res[0].(int64)
	switch {
	case ok && status == statusNoSet:
		return draw.Turn{}, roster.Seat{}, draw.ErrNoSet
	case ok && status == statusExhausted:
		return draw.Turn{}, roster.Seat{}, draw.ErrExhausted
	case !ok || status != statusDrawn && status != statusRepeated || len(res) != 7:
		return draw.Turn{}, roster.Seat{}, errReply
	}
	staff, ok1 := res[1].(string)
	round, ok2 := res[2].(int64)
	lap, ok3 := res[3].(int64)
	position, ok4 := res[4].(int64)
	counted, ok5 := res[5].(int64)
	text, ok6 := res[6].(string)
	company, ok7 := parseCompany(text)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || !ok7 {
		return draw.Turn{}, roster.Seat{}, errReply
	}
	turn := draw.Turn{Staff: staff, Round: round, Lap: lap, Position: int(position), Repeated: status == statusRepeated}
	return turn, roster.Seat{Staff: staff, Counted: int(counted), Company: company}, nil
}
