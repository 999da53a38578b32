package redisrotation

import (
	"context"
	"fmt"
	"time"
)

// asideFor is how long a member whom the company's ceiling refused is not tried
// again, unless a Replace brings him back sooner.
const asideFor = time.Second

// putBack undoes a turn that the company's ceiling refused.
func (r *Rotation) putBack(ctx context.Context, k keys, refused drawn, key string) error {
	turn := refused.turn
	text := fmt.Sprintf("%d %d %d %s", turn.Round, turn.Lap, turn.Position, turn.Staff)
	err := putBackScript.Run(ctx, r.client, k.answering(key),
		r.now(), turn.Staff, turn.Position, text, refused.version, asideFor.Microseconds()).Err()
	if err != nil {
		return fmt.Errorf("put %s back, who is at the company's ceiling: %w", turn.Staff, err)
	}
	return nil
}
