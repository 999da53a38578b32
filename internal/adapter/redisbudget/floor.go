package redisbudget

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// maxFreed bounds the slots of a tenant that wait for somebody to use them.
const maxFreed = 256

// floor admits calls while Redis cannot be asked: one limiter a tenant and one
// for the address, each at this instance's share of the rate and with a burst
// of one. Slots are kept in this process; Key_Shared brings a code back to the
// instance that held it.
//
// A call booked here may go up to horizon later than the limiter charged it
// for, because tenant and address are charged together; horizon is at most the
// time in which a whole burst accrues, and a burst is what the bound leaves
// room for.
type floor struct {
	tenantRate, addressRate rate.Limit
	horizon                 time.Duration
	usable                  time.Duration
	maxTenants, maxSlots    int

	mu      sync.Mutex
	tenants map[string]*rate.Limiter
	crowd   *rate.Limiter // shared by the tenants beyond maxTenants
	address *rate.Limiter
	slots   map[push.Ref]time.Time
	freed   map[string][]time.Time // by tenant: charged slots that were given back
}

func newFloor(tenant, address pair, instances int, horizon, usable time.Duration) *floor {
	share := func(p pair) rate.Limit { return rate.Limit(p.rate / float64(instances)) }
	accrues := time.Duration(float64(tenant.burst) / tenant.rate * float64(time.Second))
	return &floor{
		tenantRate:  share(tenant),
		addressRate: share(address),
		horizon:     min(horizon, accrues),
		usable:      usable,
		maxTenants:  4096,
		maxSlots:    16384,
		tenants:     make(map[string]*rate.Limiter),
		crowd:       rate.NewLimiter(share(tenant), 1),
		address:     rate.NewLimiter(share(address), 1),
		slots:       make(map[push.Ref]time.Time),
		freed:       make(map[string][]time.Time),
	}
}

// placed is the floor's answer: when the call may go, and whether it was
// charged for that instant.
type placed struct {
	at      time.Time
	charged bool // newly, by this ask
	kept    bool // at is, or was, the code's own
}

// ask charges one call of ref, or finds the slot that an earlier ask has
// booked, not before the end of a block (zero: there is none).
func (f *floor) ask(ref push.Ref, now, blocked time.Time) placed {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, ok := f.slots[ref]; ok {
		if at.After(now) && !at.Before(blocked) {
			return placed{at: at, kept: true}
		}
		delete(f.slots, ref)
		if !at.Before(blocked) && !now.After(at.Add(f.usable)) {
			return placed{at: at, kept: true}
		}
	}
	if at, ok := f.takeFreed(ref.Tenant, now, blocked); ok {
		if at.After(now) {
			f.slots[ref] = at
		}
		return placed{at: at, kept: true}
	}
	from := now
	if blocked.After(now) {
		from = blocked
	}
	tenant := f.limiter(ref.Tenant, now).ReserveN(from, 1)
	address := f.address.ReserveN(from, 1)
	at := from.Add(max(tenant.DelayFrom(from), address.DelayFrom(from)))
	if !at.After(now) {
		return placed{at: at, charged: true, kept: true}
	}
	if at.Sub(now) > f.horizon || !f.room(now) {
		tenant.CancelAt(from)
		address.CancelAt(from)
		return placed{at: at}
	}
	f.slots[ref] = at
	return placed{at: at, charged: true, kept: true}
}

// giveBack passes the slot of a code on to the next one that asks: a charge
// that nobody uses would be lost to a tenant whose codes change back and forth.
func (f *floor) giveBack(ref push.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.slots[ref]
	if !ok {
		return
	}
	delete(f.slots, ref)
	freed := f.freed[ref.Tenant]
	if len(freed) >= maxFreed || (freed == nil && len(f.freed) >= f.maxTenants) {
		return // lost; it is a charge too many, not a call too many
	}
	f.freed[ref.Tenant] = append(freed, at)
}

// takeFreed returns the earliest slot that was given back and can still be
// used, and forgets those that cannot. mu is held.
func (f *floor) takeFreed(tenant string, now, blocked time.Time) (time.Time, bool) {
	usable := slices.DeleteFunc(f.freed[tenant], func(at time.Time) bool {
		return at.Before(blocked) || now.After(at.Add(f.usable))
	})
	if len(usable) == 0 {
		delete(f.freed, tenant)
		return time.Time{}, false
	}
	at := slices.MinFunc(usable, time.Time.Compare)
	first := slices.Index(usable, at)
	f.freed[tenant] = slices.Delete(usable, first, first+1)
	return at, true
}

// limiter returns the tenant's limiter. mu is held.
func (f *floor) limiter(tenant string, now time.Time) *rate.Limiter {
	if l, ok := f.tenants[tenant]; ok {
		return l
	}
	if len(f.tenants) >= f.maxTenants {
		for name, l := range f.tenants {
			if l.TokensAt(now) >= 1 {
				delete(f.tenants, name)
			}
		}
	}
	if len(f.tenants) >= f.maxTenants {
		return f.crowd
	}
	l := rate.NewLimiter(f.tenantRate, 1)
	f.tenants[tenant] = l
	return l
}

// room reports whether another slot can be kept. mu is held.
func (f *floor) room(now time.Time) bool {
	if len(f.slots) < f.maxSlots {
		return true
	}
	for ref, at := range f.slots {
		if now.After(at.Add(f.usable)) {
			delete(f.slots, ref)
		}
	}
	return len(f.slots) < f.maxSlots
}
