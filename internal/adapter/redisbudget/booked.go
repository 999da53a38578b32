package redisbudget

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Slots says which codes have a slot booked with their tenant's bucket, and
// until when the tenant is blocked.
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

// Standing is what Redis holds about a code's next call: until when the vendor
// blocks the tenant, and the slot that is booked for the code. Zero is neither;
// an instant may be over.
func (s *Slots) Standing(ctx context.Context, ref push.Ref) (blockedUntil, slot time.Time, err error) {
	keys := newKeyring(s.opts.Prefix, "t", ref.Tenant, s.opts.API)
	var blocked, booked *redis.StringCmd
	_, _ = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error { // each answer has its own error
		blocked, booked = pipe.HGet(ctx, keys.pair(), "blocked"), pipe.Get(ctx, keys.slot(ref.Code))
		return nil
	})
	for _, answer := range []*redis.StringCmd{blocked, booked} {
		if err := answer.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return time.Time{}, time.Time{}, fmt.Errorf("read the slot of code %s: %w", ref.Code, err)
		}
	}
	if micros, err := blocked.Int64(); err == nil && micros > 0 {
		blockedUntil = time.UnixMicro(micros)
	}
	if text := booked.Val(); len(text) > 1 { // a bucket's letter, then the instant
		if micros, err := strconv.ParseInt(text[1:], 10, 64); err == nil {
			slot = time.UnixMicro(micros)
		}
	}
	return blockedUntil, slot, nil
}

// BlockedUntil says of each tenant named, in their order, until when the vendor
// blocks it; zero is not at all, and an instant may be over. It takes one round
// trip.
func (s *Slots) BlockedUntil(ctx context.Context, tenants []string) ([]time.Time, error) {
	answers := make([]*redis.StringCmd, len(tenants))
	_, _ = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error { // each answer has its own error
		for i, tenant := range tenants {
			answers[i] = pipe.HGet(ctx, newKeyring(s.opts.Prefix, "t", tenant, s.opts.API).pair(), "blocked")
		}
		return nil
	})
	until := make([]time.Time, len(tenants))
	for i, answer := range answers {
		if err := answer.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, fmt.Errorf("read until when %d tenants are blocked: %w", len(tenants), err)
		}
		if micros, err := answer.Int64(); err == nil && micros > 0 {
			until[i] = time.UnixMicro(micros)
		}
	}
	return until, nil
}
