package redisbudget

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// maxRemembered bounds the pairs an instance remembers; only those that are
// not full count.
const maxRemembered = 1 << 16

// Budget implements push.Budget on Redis. It is safe for concurrent use,
// starts no goroutine and needs no closing.
type Budget struct {
	opts    Options
	tenant  pair
	address pair
	scripts scripts
	known   *memory
	floor   *floor
	health  *health
	meters  meters
}

var _ push.Budget = (*Budget)(nil)

// New returns a Budget on client, which stays the caller's to close. It does
// not talk to Redis yet. The error names every option that is out of range.
func New(client redis.Scripter, opts Options) (*Budget, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, fmt.Errorf("vendor budget options: %w", err)
	}
	m, err := newMeters(opts.Meter)
	if err != nil {
		return nil, fmt.Errorf("vendor budget instruments: %w", err)
	}
	clock := opts.Clock
	if clock == nil {
		clock = time.Now
	}
	usable := opts.Delay - opts.WireTime - opts.MinUse
	b := &Budget{
		opts:    opts,
		tenant:  paceOf(opts.TenantWindows, opts.TenantBurst, opts.Instances, opts.Delay, opts.RemovalShare),
		address: paceOf(opts.IPWindows, opts.IPBurst, opts.Instances, opts.Delay, opts.IPReserveShare),
		known:   newMemory(maxRemembered),
		meters:  m,
		health:  &health{retryAfter: opts.RetryAfter, log: opts.Logger, changed: m.state},
		scripts: scripts{
			client: client, timeout: opts.Timeout, clock: clock, pinned: opts.Clock != nil,
			usable: usable, horizon: opts.ParkAfter,
		},
	}
	b.floor = newFloor(b.tenant, b.address, opts.Instances, opts.ParkAfter, usable)
	return b, nil
}

// Rate returns the sustained calls a second of a tenant and of the address, as
// derived from the windows.
func (b *Budget) Rate() (tenant, address float64) { return b.tenant.rate, b.address.rate }

// Admit asks for one call of ask's code. A grant's Expires is the last instant,
// in this process's clock, at which the call may go on the wire: the instant
// it is charged for, plus Options.Delay, less Options.WireTime; the instant is
// taken from before the script ran, so that neither the round trip nor a
// difference between the clocks adds to it. A refusal's At is taken from after
// the script ran: whoever waits for it does not come too early. The error is
// that of ctx; a Redis that fails is replaced by the instance's own share.
func (b *Budget) Admit(ctx context.Context, ask push.Ask) (push.Admission, error) {
	a, err := b.admit(ctx, ask)
	if err != nil {
		return push.Admission{}, fmt.Errorf("admit a call for code %s: %w", ask.Code, err)
	}
	b.meters.admission(ctx, a)
	return a, nil
}

func (b *Budget) admit(ctx context.Context, ask push.Ask) (push.Admission, error) {
	if err := ctx.Err(); err != nil {
		return push.Admission{}, err
	}
	if b.health.shared(b.scripts.clock()) {
		a, err := b.admitShared(ctx, ask)
		if err == nil {
			b.health.up(ctx)
			return a, nil
		}
		if ctx.Err() != nil {
			return push.Admission{}, ctx.Err()
		}
		b.health.down(ctx, b.scripts.clock(), err)
	}
	return b.admitLocal(ask), nil
}

// admitShared asks the tenant's pair, then the address's.
func (b *Budget) admitShared(ctx context.Context, ask push.Ask) (push.Admission, error) {
	tenant := b.tenantQuestion(ask.Tenant, ask.Code)
	tenant.reserved = ask.Removes
	first, err := b.ask(ctx, tenant)
	if err != nil {
		return push.Admission{}, fmt.Errorf("ask the tenant's buckets: %w", err)
	}
	address := b.addressQuestion(ask.Ref)
	if !first.granted() {
		if first.waited { // the slot that the address kept cannot be used in time
			if _, err := b.scripts.giveBack(ctx, address.keys, address.id); err != nil {
				return push.Admission{}, fmt.Errorf("free the address's slot: %w", err)
			}
		}
		return refusal(first), nil
	}
	address.reserved = first.level >= int(b.opts.CalmLevel*1000)
	second, err := b.ask(ctx, address)
	if err != nil {
		return push.Admission{}, fmt.Errorf("ask the address's buckets: %w", err)
	}
	if second.granted() {
		return b.grant(first, second), nil
	}
	var until int64
	if second.outcome == outcomeBooked {
		until = second.slot
	}
	if err := b.scripts.release(ctx, tenant, first, until); err != nil {
		return push.Admission{}, fmt.Errorf("free the tenant's slot: %w", err)
	}
	return refusal(second), nil
}

func (b *Budget) ask(ctx context.Context, q question) (reply, error) {
	q.known = b.known.of(q.keys)
	r, err := b.scripts.admit(ctx, q)
	if err == nil {
		b.known.saw(q.keys, r.levels, r.now, r.asked)
	}
	return r, err
}

func (b *Budget) tenantQuestion(tenant, code string) question {
	return question{keys: newKeyring(b.opts.Prefix, "t", tenant, b.opts.API), pair: b.tenant, id: code}
}

func (b *Budget) addressQuestion(ref push.Ref) question {
	return question{
		keys: newKeyring(b.opts.Prefix, "ip", b.opts.Egress, b.opts.API),
		pair: b.address,
		id:   escape.Replace(ref.Tenant) + ":" + ref.Code,
	}
}

func (b *Budget) grant(first, second reply) push.Admission {
	charged := first.earliest()
	if at := second.earliest(); at.Before(charged) {
		charged = at
	}
	return push.Admission{Granted: true, Expires: b.expires(charged)}
}

func (b *Budget) expires(charged time.Time) time.Time {
	return charged.Add(b.opts.Delay - b.opts.WireTime)
}

func refusal(r reply) push.Admission {
	a := push.Admission{At: r.latest(), Booked: r.outcome == outcomeBooked, Cause: reason.Throttled}
	if r.blocked() {
		a.Cause = reason.Blocked
	}
	return a
}

// admitLocal asks the floor, and remembers its charges for the shared budget.
func (b *Budget) admitLocal(ask push.Ask) push.Admission {
	now := b.scripts.clock()
	tenant, address := b.tenantQuestion(ask.Tenant, ask.Code), b.addressQuestion(ask.Ref)
	cause := reason.Throttled
	blocked := b.known.blockedUntil(tenant.keys, now)
	if !blocked.IsZero() {
		cause = reason.Blocked
	}
	p := b.floor.ask(ask.Ref, now, blocked)
	if p.charged {
		b.known.charge(tenant.keys, b.tenant, b.opts.Instances, now)
		b.known.charge(address.keys, b.address, b.opts.Instances, now)
	}
	if p.kept && !p.at.After(now) {
		return push.Admission{Granted: true, Expires: b.expires(p.at)}
	}
	return push.Admission{At: p.at, Booked: p.kept, Cause: cause}
}

// GiveBack frees the slot of a code, for the next ask that would have to wait
// longer. It costs one round trip when nothing is booked. A Redis that fails
// is no error: the slot then lapses by itself.
func (b *Budget) GiveBack(ctx context.Context, ref push.Ref) error {
	b.floor.giveBack(ref)
	if !b.health.shared(b.scripts.clock()) {
		return nil
	}
	err := b.giveBackShared(ctx, ref)
	switch {
	case err == nil:
		b.health.up(ctx)
	case ctx.Err() != nil:
		return fmt.Errorf("give back the slot of code %s: %w", ref.Code, ctx.Err())
	default:
		b.health.down(ctx, b.scripts.clock(), err)
	}
	return nil
}

func (b *Budget) giveBackShared(ctx context.Context, ref push.Ref) error {
	tenant := b.tenantQuestion(ref.Tenant, ref.Code)
	waited, err := b.scripts.giveBack(ctx, tenant.keys, tenant.id)
	if err != nil || !waited {
		return err
	}
	address := b.addressQuestion(ref)
	_, err = b.scripts.giveBack(ctx, address.keys, address.id)
	return err
}
