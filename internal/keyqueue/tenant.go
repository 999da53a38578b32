package keyqueue

// tenant is the line of one tenant's ready keys.
type tenant[M any] struct {
	name        string
	first, last *entry[M]
	inFlight    int
	limit       int
	keys        int // entries of the tenant, whatever their state

	queued bool // has a place in the ring
	after  *tenant[M]
}

func (t *tenant[M]) add(e *entry[M]) {
	e.next = nil
	if t.last == nil {
		t.first = e
	} else {
		t.last.next = e
	}
	t.last = e
}

func (t *tenant[M]) take() *entry[M] {
	e := t.first
	t.first = e.next
	if t.first == nil {
		t.last = nil
	}
	e.next = nil
	return e
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
		if t.first != nil && t.inFlight < t.limit {
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
	case t.first != nil && t.inFlight < t.limit:
		q.turns.push(t)
	case t.keys == 0 && t.limit == q.opts.TenantCap:
		delete(q.tenants, t.name)
	}
}
