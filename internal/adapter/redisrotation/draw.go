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
// trip, or two where the company has a daily total. A member whose codes have
// brought him to that total is passed over, which takes three more round trips,
// and put aside for a second, or until the next Replace. A key that was
// answered less than Options.RepeatWithin ago gets the same answer, and nothing
// is drawn; "" never repeats. The error is, or wraps, draw.ErrNoSet,
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
	for range maxPassed {
		next, err := r.next(ctx, k, key)
		if err != nil {
			return draw.Turn{}, err
		}
		granted, err := r.take(ctx, ref, next.seat, key)
		if err != nil {
			return draw.Turn{}, err
		}
		if granted {
			return next.turn, nil
		}
		if err := r.putBack(ctx, k, next, key); err != nil {
			return draw.Turn{}, err
		}
	}
	return draw.Turn{}, draw.ErrExhausted
}

// drawn is what one set alone gave.
type drawn struct {
	turn draw.Turn
	// seat is the member's, without his headroom: what the company's ceiling
	// leaves him, as far as this set knows.
	seat    roster.Seat
	version int64 // of the set; 0 when the turn is of an earlier draw
}

func (r *Rotation) next(ctx context.Context, k keys, key string) (drawn, error) {
	res, err := drawScript.Run(ctx, r.client, k.answering(key), r.now(), r.trail, r.repeat.Milliseconds()).Slice()
	if err != nil {
		return drawn{}, err
	}
	return parseDrawn(res)
}

// answering are all keys, and that of a request's answer if the request has a
// key.
func (k keys) answering(key string) []string {
	if key == "" {
		return k.all()
	}
	return append(k.all(), k.answer(key))
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

func parseDrawn(res []any) (drawn, error) {
	if len(res) == 0 {
		return drawn{}, errReply
	}
	status, ok := res[0].(int64)
	switch {
	case ok && status == statusNoSet:
		return drawn{}, draw.ErrNoSet
	case ok && status == statusExhausted:
		return drawn{}, draw.ErrExhausted
	case !ok || status != statusDrawn && status != statusRepeated || len(res) != 8:
		return drawn{}, errReply
	}
	staff, ok1 := res[1].(string)
	company, ok2 := res[6].(string)
	day, ok3 := parseCompany(company)
	numbers, ok4 := numbersOf(res[2], res[3], res[4], res[5], res[7])
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return drawn{}, errReply
	}
	return drawn{
		turn: draw.Turn{
			Staff: staff, Round: numbers[0], Lap: numbers[1], Position: int(numbers[2]), Repeated: status == statusRepeated,
		},
		seat:    roster.Seat{Staff: staff, Counted: int(numbers[3]), Company: day},
		version: numbers[4],
	}, nil
}

func numbersOf(fields ...any) ([]int64, bool) {
	numbers := make([]int64, len(fields))
	for i, field := range fields {
		n, ok := field.(int64)
		if !ok {
			return nil, false
		}
		numbers[i] = n
	}
	return numbers, true
}
