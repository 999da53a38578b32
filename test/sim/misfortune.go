package sim

import "time"

// strike lets one of the things happen that befall whole processes.
func (w *world) strike() {
	if !w.happens(w.profile.misfortune) {
		return
	}
	if len(w.consumers) == 0 {
		w.join()
		return
	}
	c := w.consumers[w.rnd.IntN(len(w.consumers))]
	switch w.rnd.IntN(12) {
	case 0:
		c.die()
	case 1, 2, 10, 11:
		w.halfOpen(c)
	case 3:
		w.unload()
	case 4:
		if len(w.consumers) < w.profile.ceiling {
			w.join()
		}
	case 5:
		c.paused = w.clock.Now().Add(w.pause())
		w.note(c.name, "stands still until %s", w.at(c.paused))
	case 6:
		c.stopping = true
		w.note(c.name, "is asked to stop")
	case 7, 9:
		k := w.keepers[w.rnd.IntN(len(w.keepers))]
		k.die()
	case 8:
		w.trip()
	}
}

// halfOpen cuts a consumer off without telling it: the broker gives its keys
// to others while it works on.
func (w *world) halfOpen(c *consumer) {
	if c.link.open {
		w.note(c.name, "is cut off and does not know")
		w.broker.drop(c.link)
	}
}

// unload moves the topic: every consumer has to come back, in any order.
func (w *world) unload() {
	w.note("broker", "the topic moves")
	w.broker.unload()
}

// trip opens a tenant's circuit breaker.
func (w *world) trip() {
	tenant := w.codes[w.rnd.IntN(len(w.codes))].Tenant
	w.open[tenant] = w.clock.Now().Add(w.upTo(10 * time.Second))
	w.note("breaker", "open for %s until %s", tenant, w.at(w.open[tenant]))
}

// mend lets what was struck come back: cut-off consumers notice, stopping ones
// leave when their work is done, and somebody is always there.
func (w *world) mend() {
	for i := 0; i < len(w.consumers); i++ {
		c := w.consumers[i]
		switch {
		case c.paused.After(w.clock.Now()):
		case c.stopping && len(c.workers) == 0:
			for len(c.outbox) > 0 {
				w.broker.ack(c.link, c.outbox[0].id)
				c.outbox = c.outbox[1:]
			}
			w.note(c.name, "leaves")
			c.leave()
			i--
		case !c.link.open && (w.calm || w.rnd.Float64() < w.profile.reconnect):
			w.note(c.name, "is connected again")
			w.broker.connect(c)
		}
	}
	if len(w.consumers) == 0 && (w.calm || w.rnd.Float64() < 0.1) {
		w.join()
	}
}
