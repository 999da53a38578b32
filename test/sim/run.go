package sim

import (
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Result is what a run was like.
type Result struct {
	Profile  string
	Steps    int
	Took     time.Duration // simulated
	Changes  int           // of facts
	Events   int           // published, those of the keeper included
	Timed    int           // events that the keeper published for time alone
	Pushes   int           // calls of WeCom's update API
	Outcomes map[string]int
	// Fault is the first invariant that did not hold; nil: none.
	Fault *Fault
}

const (
	// maxSteps bounds a run; runs end after some hundreds to some thousands.
	maxSteps = 60_000
	// stormy is how long things go wrong at most.
	stormy = 4 * time.Minute
)

// Run plays the schedule of a seed. Every third seed is a house of several
// tenants; the others are duels over one code, with and without a landing
// page. tracer, when not nil, is told what happens, line by line.
func Run(seed uint64, tracer func(line string)) Result {
	w := newWorld(seed, profileOf(seed), tracer)
	steps := w.play()
	r := Result{
		Profile: w.profile.name, Steps: steps, Took: w.clock.Now().Sub(start), Changes: w.changed,
		Events: w.broker.last, Timed: w.timed, Pushes: w.pushes, Outcomes: w.outcomes, Fault: w.fault,
	}
	w.end()
	return r
}

func profileOf(seed uint64) *profile {
	switch seed % 3 {
	case 0:
		return duel(roster.Native)
	case 1:
		return duel(roster.Sequenced)
	}
	return house()
}

// play runs until nothing is left to do, or something is wrong, and returns
// how many steps that took.
func (w *world) play() int {
	for step := range maxSteps {
		w.clock.Advance(time.Millisecond + w.upTo(w.profile.tick))
		w.land()
		w.change()
		w.turnBad()
		w.strike()
		w.mend()
		busy := w.broker.dispatch()
		for _, c := range w.consumers {
			c.turn()
		}
		for _, k := range w.keepers {
			k.turn()
		}
		busy = w.runOne() || busy
		if w.fault != nil {
			return step
		}
		w.settleDown()
		if w.calm && w.atRest() && !w.skipAhead() {
			w.judge()
			return step
		}
		if !busy {
			w.clock.Advance(w.upTo(4 * w.profile.tick))
		}
	}
	w.fail(Ends, fmt.Sprintf("after %d steps and %v: %s", maxSteps, w.clock.Now().Sub(start), w.unfinished()))
	return maxSteps
}

// settleDown ends the misfortunes once all facts have changed and some time
// has gone by.
func (w *world) settleDown() {
	if w.calm {
		return
	}
	since := w.clock.Now().Sub(start)
	if w.changed < w.profile.changes && since < stormy {
		return
	}
	if since < stormy && w.rnd.Float64() > 0.004 {
		return
	}
	w.calm = true
	w.open = map[string]time.Time{}
	clear(w.vendor.BadMembers)
	w.note("world", "nothing goes wrong from here on")
}

// atRest reports that nobody has anything to do.
func (w *world) atRest() bool {
	if len(w.broker.messages) > 0 || len(w.tasks) > 0 || len(w.wire) > 0 {
		return false
	}
	for _, c := range w.consumers {
		if len(c.inbox) > 0 || len(c.outbox) > 0 {
			return false
		}
	}
	for _, record := range w.store.Records() {
		if len(record.Intents) > 0 {
			return false
		}
	}
	return w.dirtyCodes() == 0 && w.dueChanges() == 0
}

// end ends what is left of a run that was given up.
func (w *world) end() {
	w.calm = true
	for len(w.tasks) > 0 {
		w.kill(w.tasks[0])
		w.reap()
	}
}
