package keyqueue

import (
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// tenant is the line of one tenant's ready keys.
type tenant[M any] struct {
	name     string
	back     line[M] // ready keys that the broker gave back at their time, which passes
	fresh    line[M] // the other ready keys
	inFlight int
	limit    int
	held     map[reason.Reason]int // keys that wait, by cause; nil until the first does
	keys     int                   // entries of the tenant, whatever their state

	queued bool // has a place in the ring
	after  *tenant[M]
}

// line is a queue of ready keys.
type line[M any] struct {
	first, last *entry[M]
	length      int
}

func (l *line[M]) add(e *entry[M]) {
	e.next = nil
	if l.last == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
	l.length++
}

func (l *line[M]) take() *entry[M] {
	e := l.first
	l.first = e.next
	if l.first == nil {
		l.last = nil
	}
	e.next = nil
	l.length--
	return e
}

func (t *tenant[M]) ready() int { return t.back.length + t.fresh.length }

// take hands out first what has come back: a slot can be used for a moment
// only, and behind a long line of new keys every one of them would lapse, be
// booked anew and lapse again.
func (t *tenant[M]) take() *entry[M] {
	if t.back.length > 0 {
		return t.back.take()
	}
	return t.fresh.take()
}

// ring is the order in which tenants that may work take their turns.
type ring[M any] struct{ first, last *tenant[M] }

func (r *ring[M]) push(t *tenant[M]) {
	t.queued, t.after = true, nil
	if r.last == nil {
		r.first = t
	} else {
		r.last.after = t
	}
	r.last = t
}

func (r *ring[M]) pop() *tenant[M] {
	for r.first != nil {
		t := r.first
		r.first = t.after
		if r.first == nil {
			r.last = nil
		}
		t.queued, t.after = false, nil
		if t.ready() > 0 && t.inFlight < t.limit {
			return t
		}
	}
	return nil
}

func (q *Queue[M]) tenant(name string) *tenant[M] {
	t := q.tenants[name]
	if t == nil {
		t = &tenant[M]{name: name, limit: q.opts.TenantCap}
		q.tenants[name] = t
	}
	return t
}

// takeTurn queues a tenant that may work, and forgets one that is idle.
func (q *Queue[M]) takeTurn(t *tenant[M]) {
	switch {
	case t.queued:
	case t.ready() > 0 && t.inFlight < t.limit:
		q.turns.push(t)
	case t.keys == 0 && t.limit == q.opts.TenantCap:
		delete(q.tenants, t.name)
	}
}

// countHeld notes that n more keys wait for a cause.
func (t *tenant[M]) countHeld(cause reason.Reason, n int) {
	if t.held == nil {
		t.held = map[reason.Reason]int{}
	}
	t.held[cause] += n
}
