package redisbudget

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Slots says which codes have a slot booked with their tenant's bucket.
type Slots struct {
	client redis.Cmdable
	opts   Options
}

// NewSlots returns a reader of the slots that a Budget with the same options
// books.
func NewSlots(client redis.Cmdable, opts Options) (*Slots, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, fmt.Errorf("vendor budget options: %w", err)
	}
	return &Slots{client: client, opts: opts}, nil
}

// Booked answers for the codes named, in their order, in one round trip.
func (s *Slots) Booked(ctx context.Context, refs []push.Ref) ([]bool, error) {
	answers := make([]*redis.IntCmd, len(refs))
	_, err := s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, ref := range refs {
			answers[i] = pipe.Exists(ctx, newKeyring(s.opts.Prefix, "t", ref.Tenant, s.opts.API).slot(ref.Code))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the slots of %d codes: %w", len(refs), err)
	}
	booked := make([]bool, len(refs))
	for i, answer := range answers {
		booked[i] = answer.Val() > 0
	}
	return booked, nil
}
