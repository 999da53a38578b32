package redisbudget

import (
	"context"
	"fmt"
	"time"
)

// ErrCodeFrequency is WeCom's answer to too many calls of an API in a window
// (page 90312): the API is blocked for the tenant, 60 s or 60 min.
const ErrCodeFrequency = 45009

// Throttled reports the vendor's answer to a call. After ErrCodeFrequency the
// tenant is blocked for all instances, longer on repetition, and the end of
// the block is returned; the slots that are booked before it are void, and
// those behind it are placed one after the other. After any other code (45033:
// too many calls in flight) it returns a short wait and blocks nobody. The
// error is that of ctx.
func (b *Budget) Throttled(ctx context.Context, tenant string, errcode int) (time.Time, error) {
	b.meters.throttled(ctx, errcode)
	now := b.scripts.clock()
	if errcode != ErrCodeFrequency {
		return now.Add(b.opts.ConcurrencyHold), nil
	}
	if b.health.shared(now) {
		until, err := b.blockShared(ctx, tenant)
		if err == nil {
			b.health.up(ctx)
			return until, nil
		}
		if ctx.Err() != nil {
			return time.Time{}, fmt.Errorf("block a tenant: %w", ctx.Err())
		}
		b.health.down(ctx, b.scripts.clock(), err)
	}
	return b.blockLocal(tenant, now), nil
}

func (b *Budget) blockShared(ctx context.Context, tenant string) (time.Time, error) {
	q := b.tenantQuestion(tenant, "")
	q.known = b.known.of(q.keys)
	asked := b.scripts.clock()
	l, now, err := b.scripts.block(ctx, q, blockSpans{
		first: b.opts.BlockFirst, again: b.opts.BlockAgain, within: b.opts.RepeatWithin,
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("block the tenant's buckets: %w", err)
	}
	b.known.saw(q.keys, l, now, asked)
	return b.scripts.clock().Add(time.Duration(l.blocked-now) * time.Microsecond), nil
}

// blockLocal blocks for this instance, and for all once Redis is back and the
// tenant is asked about. Without Redis a repetition goes unnoticed.
func (b *Budget) blockLocal(tenant string, now time.Time) time.Time {
	keys := b.tenantQuestion(tenant, "").keys
	if end := b.known.blockedUntil(keys, now); !end.IsZero() {
		return end
	}
	end := now.Add(b.opts.BlockFirst)
	b.known.block(keys, end, now)
	return end
}
