package redisbudget

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
)

//go:embed lua/spare.lua
var spareSource string

var spareScript = redis.NewScript(spareSource)

var _ spot.Spare = (*Budget)(nil)

// Spare reports whether a tenant may make one call that nobody waits for, of
// another API than the budget's (get_contact_way). It may while the tenant's
// bucket and the address's are half full or fuller at this instant, and no faster than SpareShare of either's rate. The call is charged to
// the address, as if it were an admission now, and to those paces alone: it is no
// call of the budget's API. It has to be on the wire within Options.Delay.
//
// A tenant's buckets and the address's are on different slots of a Redis
// Cluster, so a yes costs two round trips, and a no of the tenant one. It never
// waits and never books. A Redis that fails means no; the error is that of ctx.
func (b *Budget) Spare(ctx context.Context, tenant string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("ask for spare budget: %w", err)
	}
	if !b.health.shared(b.scripts.clock()) {
		return false, nil
	}
	spare, err := b.spareShared(ctx, tenant)
	switch {
	case err == nil:
		b.health.up(ctx)
		b.meters.spared(ctx, spare)
		return spare, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("ask for spare budget: %w", ctx.Err())
	}
	b.health.down(ctx, b.scripts.clock(), err)
	return false, nil
}

// spareShared asks the tenant first: it is the one that is busy more often, and
// its pace, which a refusal of the address wastes, is cheaper than the address's.
func (b *Budget) spareShared(ctx context.Context, tenant string) (bool, error) {
	spare, err := b.askSpare(ctx, b.tenantQuestion(tenant, ""), free)
	if err != nil || !spare {
		return false, err
	}
	return b.askSpare(ctx, question{keys: newKeyring(b.opts.Prefix, "ip", b.opts.Egress, b.opts.API), pair: b.address}, charged)
}

// price says what a spare call costs a pair.
type price string

const (
	free    price = "0" // its pace alone
	charged price = "1" // a call of the common bucket too
)

func (b *Budget) askSpare(ctx context.Context, q question, cost price) (bool, error) {
	q.known = b.known.of(q.keys)
	pace := q.pair.spare(b.opts.SpareShare)
	asked := b.scripts.clock()
	values, err := b.scripts.run(ctx, spareScript, []string{q.keys.pair(), q.keys.spare()},
		b.scripts.nowArg(), string(cost), pace.every, pace.depth(),
		q.pair.common.every, q.pair.common.depth(),
		q.known.common, q.known.reserve, q.known.blocked,
	).Int64Slice()
	if err != nil {
		return false, err
	}
	if len(values) != 5 {
		return false, fmt.Errorf("%w: %d values", errReply, len(values))
	}
	b.known.saw(q.keys, levels{common: values[2], reserve: values[3], blocked: values[4]}, values[1], asked)
	return values[0] == 1, nil
}
