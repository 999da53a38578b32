package sim

import (
	"context"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// change lets a producer write a fact and then publish a reason to recompute,
// one code after the other.
func (w *world) change() {
	if w.changed >= w.profile.changes || !w.happens(w.profile.change) {
		return
	}
	w.changed++
	ref := w.codes[w.rnd.IntN(len(w.codes))]
	if w.profile.zone == islands && w.rnd.Float64() < 0.4 {
		w.forNow(ref.Tenant)
		return
	}
	switch dice := w.rnd.Float64(); {
	case dice < 0.7:
		w.flip(ref.Tenant)
	case dice < 0.85:
		w.reorder(ref)
	default:
		w.limit(ref)
	}
}

// flip sends a staff member off line, or back.
func (w *world) flip(tenant string) {
	who := staffName(w.rnd.IntN(w.profile.staff))
	presence := roster.Online
	w.store.EditStaff(tenant, who, func(s *roster.Staff) {
		if s.Presence == roster.OfflineNow {
			s.Presence = w.presence()
		} else {
			s.Presence = roster.OfflineNow
		}
		presence = s.Presence
	})
	w.note("producer", "%s of %s is %q", who, tenant, presence)
	w.publishAll(tenant)
}

// publishAll publishes for every code of a tenant, as a fan-out does.
func (w *world) publishAll(tenant string) {
	w.start(&w.producers, "producer", func(context.Context) {
		for _, ref := range w.codes {
			if ref.Tenant == tenant {
				w.broker.publish(ref)
				w.step("publishes on")
			}
		}
	})
}

// reorder edits a code: its first member becomes its last.
func (w *world) reorder(ref push.Ref) {
	w.store.EditCode(ref.Code, func(c *roster.Code) {
		c.Members = append(c.Members[1:], c.Members[0])
	})
	w.note("producer", "%s is reordered", ref.Code)
	w.broker.publish(ref)
}

// limit lets a member reach his ceiling, or raises it again.
func (w *world) limit(ref push.Ref) {
	var member roster.Member
	w.store.EditCode(ref.Code, func(c *roster.Code) {
		m := &c.Members[w.rnd.IntN(len(c.Members))]
		m.AddLimit = 1 - m.AddLimit
		member = *m
	})
	w.note("producer", "ceiling of %s on %s is %d", member.Staff, ref.Code, member.AddLimit)
	if member.AddLimit > 0 {
		w.store.PutCounters(ref.Code, roster.Counters{Total: map[string]int{member.Staff: 1}})
	}
	w.broker.publish(ref)
}
