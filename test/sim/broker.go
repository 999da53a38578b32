package sim

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// broker is one topic with a Key_Shared subscription.
type broker struct {
	w        *world
	last     int
	messages []*message // the un-acked ones, in the order of publishing
	links    []*link    // the consumers it takes for connected
}

// message is one event as the broker keeps it.
type message struct {
	id           int
	ref          push.Ref
	publishedAt  time.Time
	ready        time.Time // not dispatched earlier
	holder       *link     // who has it un-acked; nil: nobody
	dispatched   bool
	redeliveries uint32
	acked        bool
}

// link is a consumer's connection as the broker sees it. A consumer whose link
// is closed may not have noticed.
type link struct {
	consumer *consumer
	open     bool
}

// nackDelay is the longest time from a negative ack to the redelivery.
const nackDelay = 100 * time.Millisecond

func (b *broker) publish(ref push.Ref) {
	b.last++
	now := b.w.clock.Now()
	b.messages = append(b.messages, &message{id: b.last, ref: ref, publishedAt: now, ready: now})
	b.w.note("broker", "message %d for %s", b.last, ref.Code)
}

func (b *broker) connect(c *consumer) {
	c.link = &link{consumer: c, open: true}
	c.inbox = c.inbox[:0]
	b.links = append(b.links, c.link)
}

// drop closes a link: what was pending on it is free at once, whether or not
// somebody works on it.
func (b *broker) drop(l *link) {
	l.open = false
	b.links = slices.DeleteFunc(b.links, func(other *link) bool { return other == l })
	for _, m := range b.messages {
		if m.holder == l {
			m.holder, m.ready = nil, b.w.clock.Now()
		}
	}
}

// unload moves the topic: who had what is forgotten.
func (b *broker) unload() {
	for _, l := range slices.Clone(b.links) {
		b.drop(l)
	}
}

// owner is the consumer that a code's hash belongs to, nil when there is none.
func (b *broker) owner(ref push.Ref) *link {
	var best *link
	var most uint32
	for _, l := range b.links {
		h := fnv.New32a()
		_, _ = h.Write([]byte(l.consumer.name))
		_, _ = h.Write([]byte(ref.Code))
		if weight := h.Sum32(); best == nil || weight > most {
			best, most = l, weight
		}
	}
	return best
}

// draining reports that a message of the same hash is still pending with
// somebody else: the hash does not move before that has ended.
func (b *broker) draining(m *message, to *link) bool {
	for _, other := range b.messages {
		if other.holder != nil && other.holder != to && other.ref == m.ref {
			return true
		}
	}
	return false
}

// dispatch delivers one message that may be delivered, and reports whether
// there was one. New messages of a code come in order, redelivered ones do not.
func (b *broker) dispatch() bool {
	now := b.w.clock.Now()
	able := b.w.due[:0]
	for i, m := range b.messages {
		if m.holder != nil || m.ready.After(now) {
			continue
		}
		if to := b.owner(m.ref); to == nil || b.draining(m, to) {
			continue
		}
		if !m.dispatched && b.hasOlderNew(i) {
			continue
		}
		able = append(able, m)
	}
	b.w.due = able
	if len(able) == 0 {
		return false
	}
	m := able[b.w.rnd.IntN(len(able))]
	to := b.owner(m.ref)
	m.holder, m.dispatched = to, true
	to.consumer.inbox = append(to.consumer.inbox, delivery{m.id, m.redeliveries, m.ref, m.publishedAt})
	return true
}

func (b *broker) hasOlderNew(i int) bool {
	for _, older := range b.messages[:i] {
		if !older.dispatched && older.ref == b.messages[i].ref {
			return true
		}
	}
	return false
}

// ack takes an ack from anybody whose link is open.
func (b *broker) ack(l *link, id int) {
	if !l.open {
		b.w.note("broker", "ack of %d from %s is lost", id, l.consumer.name)
		return
	}
	for i, m := range b.messages {
		if m.id == id {
			m.acked = true
			b.messages = slices.Delete(b.messages, i, i+1)
			b.w.checkExpected(m.ref)
			return
		}
	}
}

// nack gives a message back.
func (b *broker) nack(l *link, id int) {
	for _, m := range b.messages {
		if m.id == id && m.holder == l && l.open {
			m.holder, m.ready = nil, b.w.clock.Now().Add(b.w.upTo(nackDelay))
			m.redeliveries++
		}
	}
}

// pending is how many messages of a code a consumer holds.
func (b *broker) pending(l *link, ref push.Ref) int {
	n := 0
	for _, m := range b.messages {
		if m.holder == l && m.ref == ref {
			n++
		}
	}
	return n
}
