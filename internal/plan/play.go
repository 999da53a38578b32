package plan

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"
	"sort"
	"time"
)

// steps of a campaign: ten seconds of a day.
const steps = 8640

// endless is how many Lengths a drain is followed for.
const endless = 20

// Additions are dealt from shuffles that are always the same, so that twice as many
// begin with the same ones. Who reaches a ceiling is chance, where people are few:
// the day is played with each shuffle, and the one in the middle is told. With many
// codes chance evens out.
const (
	shuffles  = 5
	manyCodes = 20_000
)

// play is one day under way.
type play struct {
	*cast
	in      *Input
	now     time.Duration
	step    time.Duration
	turns   []turn
	release *release
	till    *till
	lines   [2]line // in line for the budget: those that remove somebody, and others
	arrived int     // in any line so far, for their order
	behind  int     // codes whose list is to be another and that do not wait for their lane
	lanes   lanes
	weights []float64 // cumulative, of the codes
	deal    *rand.Rand
	total   int // additions to come
	dealt   int
	tally   *tally
}

// line is a FIFO of codes.
type line struct {
	codes []int32
	order []int
}

const (
	removals = iota
	others
)

// Play computes the outcome of an input. The error says what makes no sense.
func Play(in Input) (Outcome, error) {
	if err := in.Validate(); err != nil {
		return Outcome{}, err
	}
	deals := shuffles
	if in.Campaign.additions(&in.Company) == 0 || len(in.Company.Codes) > manyCodes {
		deals = 1
	}
	outcomes := make([]Outcome, deals)
	for deal := range outcomes {
		p := newPlay(&in, uint64(deal))
		for p.goesOn() {
			p.tick()
			p.now += p.step
		}
		outcomes[deal] = p.tally.outcome(p)
	}
	slices.SortStableFunc(outcomes, func(a, b Outcome) int { return cmp.Compare(a.Pushes, b.Pushes) })
	middle := outcomes[deals/2]
	middle.Least, middle.Most = outcomes[0].Pushes, outcomes[deals-1].Pushes
	return middle, nil
}

func newPlay(in *Input, shuffle uint64) *play {
	c := newCast(in)
	p := &play{cast: c, in: in, step: max(time.Millisecond, in.Campaign.Length/steps)}
	p.turns = timetable(in, c)
	c.settle()
	rate, _ := in.Budget.Rates()
	p.release = newRelease(in.Releasing, rate)
	p.till = newTill(in.Budget, in.Refreshing)
	p.deal = rand.New(rand.NewPCG(2027, shuffle))
	p.total = in.Campaign.additions(&in.Company)
	p.weights = weightsOf(c.codes)
	p.tally = newTally(in, len(c.people))
	return p
}

// weightsOf are cumulative: as the codes were scanned of late, or evenly.
func weightsOf(codes []code) []float64 {
	past, old := 0.0, 0
	for i := range codes {
		if !codes[i].Fresh {
			past += codes[i].PerDay
			old++
		}
	}
	fresh := past / float64(max(old, 1))
	out, sum := make([]float64, len(codes)), 0.0
	for i := range codes {
		switch {
		case past == 0:
			sum++
		case codes[i].Fresh:
			sum += fresh
		default:
			sum += codes[i].PerDay
		}
		out[i] = sum
	}
	return out
}

func (p *play) goesOn() bool {
	if p.now <= p.in.Campaign.Length {
		return true
	}
	busy := len(p.turns) > 0 || p.release.behind() || len(p.lanes) > 0 || p.inLine() > 0
	return busy && p.now < endless*p.in.Campaign.Length
}

func (p *play) inLine() int { return len(p.lines[removals].codes) + len(p.lines[others].codes) }

// tick plays one step: what happens, what is released, what is pushed.
func (p *play) tick() {
	p.till.fill(p.step)
	p.turn()
	p.add()
	for len(p.lanes) > 0 && p.lanes[0].until <= p.now {
		p.openLane(heap.Pop(&p.lanes).(wait))
	}
	p.release.step(p.now, p.step, p.arrive, func(at int32) {
		p.codes[at].due = false
		p.arrive(at)
	})
	throttled := p.serve()
	if p.behind > 0 && (throttled || p.release.behind()) {
		p.tally.short(p)
	}
}

// turn does what time and people change now.
func (p *play) turn() {
	var timed []int32 // codes that the keeper finds changed by time
	for len(p.turns) > 0 && p.turns[0].at <= p.now {
		t := p.turns[0]
		p.turns, p.tally.Quiet = p.turns[1:], p.now
		switch t.kind {
		case NewDay:
			timed = append(timed, p.newDay()...)
		case Shift:
			p.people[t.person].onShift = t.on
			timed = append(timed, p.touchAll(t.person, Shift)...)
		default:
			if p.people[t.person].presence != t.to {
				p.people[t.person].presence = t.to
				p.touchAll(t.person, Presence)
				p.release.request(t.person, p.sits[t.person])
			}
		}
	}
	slices.Sort(timed)
	for _, at := range slices.Compact(timed) {
		if !p.codes[at].due {
			p.codes[at].due = true
			p.release.due = append(p.release.due, at)
		}
	}
}

func (p *play) newDay() []int32 {
	p.midnight()
	var changed []int32
	for at := range p.codes {
		if p.touch(int32(at), nobody, NewDay) {
			changed = append(changed, int32(at))
		}
	}
	return changed
}

// add deals the additions that have come by the end of this step.
func (p *play) add() {
	if len(p.codes) == 0 {
		return
	}
	due := int(float64(p.total)*p.in.Campaign.due(p.now+p.step) + 1e-9)
	for ; p.dealt < min(due, p.total); p.dealt++ {
		which, who := p.deal.Float64(), p.deal.Float64()
		last := p.weights[len(p.weights)-1]
		at := min(sort.SearchFloat64s(p.weights, which*last), len(p.codes)-1)
		p.customer(int32(at), who)
	}
}

// customer adds whom he meets: WeCom picks of the list that it has, a draw of the
// list as the facts have it.
func (p *play) customer(at int32, who float64) {
	one := &p.codes[at]
	met := one.pushed
	if one.Rotates {
		met = one.want
		who = 0
	}
	if len(met) == 0 {
		p.tally.Lost++
		return
	}
	index := met[(int(who*float64(len(met)))+one.drawn)%len(met)]
	if one.Rotates {
		one.drawn++
	}
	reached := p.addition(one, index)
	p.tally.Additions++
	p.tally.Quiet = p.now
	why := Ceiling
	if reached {
		why = CompanyCeiling
	}
	p.touch(at, index, why)
	p.arrive(at)
	if reached {
		p.tally.Ceilings++
		p.touchAll(index, CompanyCeiling)
		p.release.request(index, p.sits[index])
	}
}

// touchAll looks at all codes of a person and returns those whose list changes.
func (p *play) touchAll(index int32, why Cause) []int32 {
	var changed []int32
	for _, at := range p.sits[index] {
		if p.touch(at, index, why) {
			changed = append(changed, at)
		}
	}
	return changed
}

// touch decides a code anew and reports whether its list is another.
func (p *play) touch(at, index int32, why Cause) bool {
	one := &p.codes[at]
	now := p.list(one)
	if slices.Equal(now, one.want) {
		return false
	}
	was := p.counts(one)
	if !one.stale() {
		one.since = p.now
	}
	one.want = slices.Clone(now)
	p.behind += p.counts(one) - was
	p.tally.change(index, why, p.now)
	return true
}

// counts is 1 for a code that is behind.
func (p *play) counts(one *code) int {
	if one.stage != waiting && one.stale() {
		return 1
	}
	return 0
}

// arrive is an event of a code that a refresher gets. While the code waits it
// merges with the one before.
func (p *play) arrive(at int32) {
	p.tally.Events++
	one := &p.codes[at]
	if one.stage != resting || !one.stale() {
		return
	}
	if until := one.lastPush + one.Interval; one.Interval > 0 && one.everPushed && until > p.now {
		one.stage = waiting
		p.behind--
		heap.Push(&p.lanes, wait{until: until, code: at, parked: until-p.now > p.in.ParkAfter})
		return
	}
	p.lineUp(at)
}

// openLane ends a wait for the lane. A parked code comes by way of the keeper.
func (p *play) openLane(w wait) {
	one := &p.codes[w.code]
	one.stage, one.opened = resting, p.now
	p.behind += p.counts(one)
	switch {
	case w.parked && !one.due:
		one.due = true
		p.release.due = append(p.release.due, w.code)
	case !w.parked && one.stale():
		p.lineUp(w.code)
	}
}

func (p *play) lineUp(at int32) {
	one := &p.codes[at]
	one.stage = lining
	l := &p.lines[others]
	if one.removes() {
		l = &p.lines[removals]
	}
	l.codes, l.order = append(l.codes, at), append(l.order, p.arrived)
	p.arrived++
}

// serve pushes what the budget lets through, in the order of arrival. It reports
// whether the budget was in the way.
func (p *play) serve() (throttled bool) {
	onlyRemovals := false
	for {
		l := p.nextLine(onlyRemovals)
		if l == nil {
			return throttled
		}
		at := l.codes[0]
		one := &p.codes[at]
		if !one.stale() { // it came back to what it was: the slot is given back
			one.stage = resting
			l.drop()
			continue
		}
		pay := p.till.other
		if one.removes() {
			pay = p.till.removal
		}
		switch pay() {
		case crowded:
			return throttled
		case throttle:
			throttled = true
			if l == &p.lines[removals] {
				return throttled
			}
			onlyRemovals = true
		default:
			l.drop()
			p.push(one)
		}
	}
}

func (p *play) nextLine(onlyRemovals bool) *line {
	a, b := &p.lines[removals], &p.lines[others]
	switch {
	case len(a.codes) == 0 && (onlyRemovals || len(b.codes) == 0):
		return nil
	case len(a.codes) == 0:
		return b
	case onlyRemovals || len(b.codes) == 0 || a.order[0] < b.order[0]:
		return a
	}
	return b
}

func (l *line) drop() { l.codes, l.order = l.codes[1:], l.order[1:] }

func (p *play) push(one *code) {
	one.stage = resting
	one.pushed = one.want
	p.behind--
	one.lastPush, one.everPushed = p.now, true
	p.tally.push(p.now, p.now-one.since+p.in.PushTime, max(one.since, one.opened))
}

// wait is a code that waits for its lane.
type wait struct {
	until  time.Duration
	code   int32
	parked bool
}

// lanes is a heap of waits, the earliest first.
type lanes []wait

func (l lanes) Len() int           { return len(l) }
func (l lanes) Less(i, j int) bool { return l[i].until < l[j].until }
func (l lanes) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }

// Push adds a wait; for package heap.
func (l *lanes) Push(x any) { *l = append(*l, x.(wait)) }

// Pop removes the last wait; for package heap.
func (l *lanes) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}
