package sim

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/intake/desk"
	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// consumer is one refresher: the product's desk and protocol, and what an
// intake does between them.
type consumer struct {
	process
	w        *world
	link     *link
	desk     *desk.Desk[delivery]
	protocol *push.Protocol
	skew     time.Duration // of its clock
	inbox    []delivery    // arrived, not yet received
	outbox   []ack
	workers  []*worker
	shedding *task
	stopping bool
	turns    turns
	// firm is until when a code waits for what nothing shortens.
	firm map[keyqueue.Key]time.Time
}

type delivery struct {
	id           int
	redeliveries uint32
	ref          push.Ref
	publishedAt  time.Time
}

// ack is on its way to the broker until it is sent.
type ack struct {
	id   int
	sent time.Time
}

// ackGrouping is how long the broker's client collects acks.
const ackGrouping = 100 * time.Millisecond

// worker is one refresh under way.
type worker struct {
	consumer *consumer
	work     keyqueue.Work[delivery]
	ref      push.Ref
	loaded   time.Time // when its facts were last read
	facts    int       // how often facts had changed by then
	epoch    int64     // of the intent that it announced last
	expires  time.Time // when its admission runs out
	beaten   bool      // somebody else has taken the probe on
	probe    time.Time // the next probe after the one that it took on
}

func (w *world) join() *consumer {
	w.joined++
	c := &consumer{w: w, firm: map[keyqueue.Key]time.Time{}, turns: newTurns()}
	c.name = "r" + itoa(w.joined)
	c.skew = w.upTo(2*w.profile.skew) - w.profile.skew
	c.desk = desk.New(desk.Options[delivery]{
		Queue: keyqueue.Options[delivery]{
			Compare:   func(a, b delivery) int { return cmp.Compare(a.id, b.id) },
			TenantCap: w.profile.tenantCap,
			MaxHold:   w.profile.maxHold,
			Recheck:   w.profile.recheck,
			Burst:     4,
			PaceRate:  4,
			MaxPace:   2 * time.Second,
			Remember:  w.profile.maxHold,
		},
		MaxHeld: w.profile.maxHeld, Line: 1, Stumble: w.profile.backoff, MaxPanics: 3,
		Redeliveries: func(d delivery) uint32 { return d.redeliveries },
	})
	c.protocol = push.New(push.Ports{
		Store: storeOf{w.store, w}, Rotation: w.rotation, Budget: w.budget, Vendor: vendorOf{w.vendor, c}, Breaker: w,
		Shadows: w.shadows,
	}, w.protocolOptions(c))
	w.note(c.name, "joins, clock off by %v", c.skew)
	w.broker.connect(c)
	for _, sibling := range w.consumers {
		if !w.happens(w.profile.lostHint) {
			sibling.handBack()
		}
	}
	w.consumers = append(w.consumers, c)
	return c
}

func (c *consumer) now() time.Time { return c.w.clock.Now() }

// turn does what an intake's own loops do: receive, end holds, send acks,
// start workers.
func (c *consumer) turn() {
	if c.paused.After(c.now()) {
		return
	}
	c.flush()
	if !c.stopping {
		c.expire()
		for len(c.inbox) > 0 && !c.desk.Full() && !c.w.happens(c.w.profile.slowReceive) {
			c.receive()
		}
		for len(c.workers) < c.w.profile.workers && c.begin() {
		}
		c.shed()
	}
	c.checkHeld()
}

func (c *consumer) receive() {
	d := c.inbox[0]
	c.inbox = slices.Delete(c.inbox, 0, 1)
	key := keyqueue.Key{Tenant: d.ref.Tenant, Code: d.ref.Code}
	before := c.desk.Stats().Ready
	acks := c.desk.Touch(keyqueue.Touch[delivery]{Key: key, Message: d, PublishedAt: d.publishedAt}, c.now())
	c.w.note(c.name, "receives %d (redelivered %d), acks %v", d.id, d.redeliveries, numbers(acks))
	if c.desk.Stats().Ready > before {
		c.turns.ready(key)
	}
	c.ack(acks)
}

func (c *consumer) expire() {
	expired := c.desk.Due(c.now())
	c.nack(expired.Nacks)
}

func (c *consumer) handBack() {
	nacks := c.desk.HandBack(c.now())
	clear(c.firm)
	c.nack(nacks)
}

func (c *consumer) nack(deliveries []delivery) {
	for _, d := range deliveries {
		delete(c.firm, keyqueue.Key{Tenant: d.ref.Tenant, Code: d.ref.Code})
		c.w.note(c.name, "gives %d back", d.id)
		c.w.broker.nack(c.link, d.id)
	}
}

func (c *consumer) ack(deliveries []delivery) {
	for _, d := range deliveries {
		c.outbox = append(c.outbox, ack{d.id, c.now().Add(c.w.upTo(ackGrouping))})
	}
}

// flush sends the acks whose time has come.
func (c *consumer) flush() {
	now := c.now()
	c.outbox = slices.DeleteFunc(c.outbox, func(a ack) bool {
		if a.sent.After(now) {
			return false
		}
		c.w.broker.ack(c.link, a.id)
		return true
	})
}

// begin starts a worker on the next code, if there is one.
func (c *consumer) begin() bool {
	work, ok := c.desk.Next(c.now())
	if !ok {
		return false
	}
	k := &worker{consumer: c, work: work, ref: push.Ref{Tenant: work.Tenant, Code: work.Code}}
	c.checkBegin(k)
	c.workers = append(c.workers, k)
	t := c.w.start(&c.process, c.name+"/"+work.Code, func(ctx context.Context) { c.refresh(ctx, k) })
	t.worker = k
	return true
}

func (c *consumer) refresh(ctx context.Context, k *worker) {
	outcome := c.protocol.Refresh(ctx, k.ref, func() {
		k.loaded, k.facts = c.now(), c.w.changed
		c.desk.Observe(k.work.Key)
	})
	if ctx.Err() != nil {
		return
	}
	settled := c.desk.Settle(k.work, outcome, c.now())
	if settled.Mark != nil {
		mark := *settled.Mark
		err := c.w.dirty.Mark(ctx, mark)
		if ctx.Err() != nil {
			return
		}
		settled = c.desk.Marked(k.work, mark, err, c.now())
	}
	c.settled(k, settled)
}

// shed parks codes that stand in a line that is too long, as an intake does.
func (c *consumer) shed() {
	if c.shedding != nil && !c.shedding.ended {
		return
	}
	works, marks := c.desk.Shed(c.now())
	if len(works) == 0 {
		return
	}
	c.w.note(c.name, "sheds %d codes", len(works))
	for _, work := range works {
		c.turns.gone(work.Key)
	}
	c.shedding = c.w.start(&c.process, c.name+"/shed", func(ctx context.Context) {
		err := c.w.dirty.Mark(ctx, marks...)
		if ctx.Err() != nil {
			return
		}
		for i, work := range works {
			k := &worker{consumer: c, work: work, ref: marks[i].Ref}
			c.settled(k, c.desk.Marked(work, marks[i], err, c.now()))
		}
	})
}

func (c *consumer) settled(k *worker, s desk.Settlement[delivery]) {
	kind, why := push.Describe(s.Outcome)
	c.w.note(c.name, "%s ends: %s %s, acks %v", k.work.Code, kind, why, numbers(s.Acks))
	c.workers = slices.DeleteFunc(c.workers, func(other *worker) bool { return other == k })
	c.checkSettled(k, s)
	c.ack(s.Acks)
	c.w.count(s.Outcome)
}

// die is kill -9.
func (c *consumer) die() {
	c.w.note(c.name, "is killed")
	c.leave()
	for _, t := range slices.Clone(c.w.tasks) {
		if t.process == &c.process {
			c.w.kill(t)
		}
	}
	c.w.reap()
}

// leave takes the consumer out of the world and off the broker.
func (c *consumer) leave() {
	c.w.broker.drop(c.link)
	c.w.consumers = slices.DeleteFunc(c.w.consumers, func(other *consumer) bool { return other == c })
}

func numbers(deliveries []delivery) []int {
	out := make([]int, len(deliveries))
	for i, d := range deliveries {
		out[i] = d.id
	}
	return out
}
