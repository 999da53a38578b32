package sim

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// profile is how a run is made up: who takes part and how bad the day is.
// Shares are probabilities at every opportunity.
type profile struct {
	name     string
	families []roster.Family // one a code
	zone     string          // of the tenants; islands: time alone changes facts, too
	tenants  int
	staff    int
	changes  int // of facts
	keepers  int
	workers  int // a consumer
	ceiling  int // most consumers at once
	atStart  int // consumers, at most

	tick        time.Duration // longest time between two steps
	callTimeout time.Duration
	margin      time.Duration
	skew        time.Duration // of clocks, either way
	backoff     time.Duration
	backoffCap  time.Duration
	maxFailures int
	maxHold     time.Duration
	recheck     time.Duration
	parkAfter   time.Duration
	maxHeld     int
	tenantCap   int

	window      time.Duration // of the vendor
	windowCalls int
	burst       int
	every       time.Duration // between two calls of a tenant
	block       time.Duration // after a throttle answer
	refuse      float64       // somebody else has used the budget up

	change      float64 // a producer writes a fact
	stall       float64 // a task stands still
	slowReceive float64 // a message stays in the client's queue
	lostHint    float64 // a join is not told
	reconnect   float64 // a consumer that was cut off notices
	badMembers  float64 // a member is refused from now on
	opFault     float64 // an operation fails; half of these have happened all the same
	badAnswers  float64 // scales WeCom's misfortunes
	misfortune  float64 // one of those in misfortune.go
}

// duel is one code on which several consumers work at once, most of them
// without right: what the push protocol has to stand.
func duel(family roster.Family) *profile {
	p := common()
	p.name, p.families, p.tenants, p.staff = "duel/"+string(family), []roster.Family{family}, 1, 3
	p.changes, p.keepers, p.workers, p.ceiling, p.atStart = 16, 1, 2, 4, 3
	p.windowCalls, p.burst, p.every = 1000, 500, time.Millisecond
	p.misfortune, p.stall, p.change, p.refuse = 0.08, 0.08, 0.06, 0.25
	p.zone = islands
	if family.Rotates() {
		p.zone = ""
		// Facts that soon return to what they were, and waits after the set was
		// written, are what tempts a set's writer.
		p.staff, p.changes, p.change, p.refuse, p.badAnswers, p.reconnect = 1, 40, 0.25, 0.4, 0.2, 0.08
	}
	return p
}

// house is several tenants with codes of all families, little budget and
// little room to wait: what queue, budget and dirty set have to stand.
func house() *profile {
	p := common()
	p.name, p.tenants, p.staff, p.zone = "house", 2, 3, islands
	p.families = []roster.Family{roster.Native, roster.Sequenced, roster.Quota, roster.Native, roster.Native, roster.Sequenced}
	p.changes, p.keepers, p.workers, p.ceiling, p.atStart = 20, 2, 3, 3, 2
	p.maxHeld, p.parkAfter, p.opFault, p.badMembers = 1, 4*time.Second, 0.012, 0.01
	p.windowCalls, p.burst, p.every = 11, 4, 2*time.Second // 4 + (12 + 2)/2
	p.misfortune, p.stall, p.change = 0.015, 0.02, 0.1
	return p
}

func common() *profile {
	return &profile{
		tick: 250 * time.Millisecond, callTimeout: 5 * time.Second, margin: 3 * time.Second, skew: 300 * time.Millisecond,
		backoff: 500 * time.Millisecond, backoffCap: 8 * time.Second, maxFailures: 5,
		maxHold: 6 * time.Second, recheck: time.Second, parkAfter: 20 * time.Second, maxHeld: 100, tenantCap: 2,
		window: 12 * time.Second, block: 15 * time.Second,
		slowReceive: 0.2, lostHint: 0.3, reconnect: 0.02, opFault: 0.008, badAnswers: 1,
	}
}
