package sim

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// budget is the shared budget in Redis: a bucket a tenant, and slots under the
// codes' own keys.
type budget struct {
	*pushtest.Budget
	w       *world
	buckets map[string]*bucket
}

type bucket struct {
	next    time.Time // theoretical arrival time of the next call
	blocked time.Time
	slots   map[string]time.Time
}

// admitFor is how long an admission may be used: the D of the bound
// b + r(W + D) <= N.
const admitFor = 2 * time.Second

func newBudget(w *world) *budget {
	b := &budget{Budget: pushtest.NewBudget(w.clock), w: w, buckets: map[string]*bucket{}}
	b.Answer = func(ask push.Ask) (push.Admission, error) { return b.admit(ask), nil }
	return b
}

func (b *budget) of(tenant string) *bucket {
	bk := b.buckets[tenant]
	if bk == nil {
		bk = &bucket{slots: map[string]time.Time{}}
		b.buckets[tenant] = bk
	}
	return bk
}

func (b *budget) admit(ask push.Ask) push.Admission {
	now, bk, p := b.w.clock.Now(), b.of(ask.Tenant), b.w.profile
	if slot, booked := bk.slots[ask.Code]; booked {
		if slot.After(now) {
			return push.Admission{At: slot, Booked: true, Cause: reason.Throttled}
		}
		delete(bk.slots, ask.Code)
		if !now.After(slot.Add(admitFor / 2)) {
			return b.grant(slot)
		}
	}
	if b.w.happens(p.refuse) {
		return push.Admission{At: now.Add(b.w.upTo(p.backoffCap)), Booked: true, Cause: reason.Throttled}
	}
	next := later(bk.next, now)
	at := later(next.Add(-time.Duration(p.burst-1)*p.every), bk.blocked)
	if at.Sub(now) > p.parkAfter {
		return push.Admission{At: at, Cause: b.cause(bk, now)}
	}
	bk.next = later(next, at).Add(p.every)
	if !at.After(now) {
		return b.grant(now)
	}
	bk.slots[ask.Code] = at
	return push.Admission{At: at, Booked: true, Cause: b.cause(bk, now)}
}

// grant answers in the consumer's own clock, as the adapter does.
func (b *budget) grant(slot time.Time) push.Admission {
	k := b.w.current.worker
	k.expires = slot.Add(admitFor)
	return push.Admission{Granted: true, Expires: k.expires.Add(k.consumer.skew)}
}

func (b *budget) cause(bk *bucket, now time.Time) reason.Reason {
	if bk.blocked.After(now) {
		return reason.Blocked
	}
	return reason.Throttled
}

// Throttled blocks the tenant.
func (b *budget) Throttled(ctx context.Context, tenant string, errcode int) (time.Time, error) {
	if _, err := b.Budget.Throttled(ctx, tenant, errcode); err != nil {
		return time.Time{}, err
	}
	bk := b.of(tenant)
	bk.blocked = later(bk.blocked, b.w.clock.Now().Add(b.w.profile.block))
	return bk.blocked, nil
}

// GiveBack frees the slot of a code; its charge is lost.
func (b *budget) GiveBack(ctx context.Context, ref push.Ref) error {
	if err := b.Budget.GiveBack(ctx, ref); err != nil {
		return err
	}
	delete(b.of(ref.Tenant).slots, ref.Code)
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
