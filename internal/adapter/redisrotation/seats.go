package redisrotation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// Seats returns the staff IDs of the set in order, whether they have headroom
// or not: what the last Replace asked for. draw.ErrNoSet says that there is no set.
func (r *Rotation) Seats(ctx context.Context, ref push.Ref) ([]string, error) {
	seats, err := r.client.HGet(ctx, r.keysOf(ref).meta, "seats").Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, fmt.Errorf("code %s: %w", ref.Code, draw.ErrNoSet)
	case err != nil:
		return nil, fmt.Errorf("read the seats of code %s: %w", ref.Code, err)
	case seats == "":
		return nil, nil
	}
	return strings.Split(seats, "\n"), nil
}
