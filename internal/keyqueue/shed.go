package keyqueue

// Unacked is the number of keys that have a message here.
func (q *Queue[M]) Unacked() int { return q.ready + q.inFlight + q.shedding + q.heldSum }

// Shed takes ready keys out of the longest line, so many at most, and leaves
// keep of its tenant's. Like a key in work each has to be returned, by Park once
// the dirty set has it or by Hold; unlike one it takes no worker's place.
func (q *Queue[M]) Shed(most, keep int) []Work[M] {
	longest := q.longest()
	if longest == nil {
		return nil
	}
	most = min(most, longest.ready()-keep, longest.fresh.length)
	works := make([]Work[M], 0, max(most, 0))
	for range most {
		e := longest.fresh.take()
		e.state = shed
		q.ready--
		q.shedding++
		works = append(works, Work[M]{Key: e.key, Message: e.message})
	}
	return works
}

// longest is the tenant with the most ready keys; nil: nobody has any.
func (q *Queue[M]) longest() *tenant[M] {
	var longest *tenant[M]
	for _, t := range q.tenants {
		switch {
		case t.ready() == 0:
		case longest == nil || t.ready() > longest.ready():
			longest = t
		case t.ready() == longest.ready() && t.name < longest.name: // always the same one
			longest = t
		}
	}
	return longest
}
