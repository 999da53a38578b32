package plan

import (
	"cmp"
	"slices"
	"time"
)

// Cause is why a list changes.
type Cause string

// The causes, in the order in which they are told.
const (
	Ceiling        Cause = "code_ceiling"    // a limit of a place, reached by an addition, or the end of a round
	CompanyCeiling Cause = "company_ceiling" // of a person, over all codes
	Presence       Cause = "presence"        // set by hand
	Shift          Cause = "shift"           // by a schedule
	NewDay         Cause = "new_day"         // midnight ends the day's ceilings
)

// Causes are all of them, in their order.
var Causes = []Cause{Ceiling, CompanyCeiling, Presence, Shift, NewDay}

// nobody is the person of a change that concerns none in particular.
const nobody = -1

// slices of the Length in which the outcome tells of pushes and waiting codes.
const hours = 24

// minutes of the Length by which the pushes of tenants are added up.
const minutes = 1440

// Outcome is what a campaign comes to.
type Outcome struct {
	Tenant string
	Codes  int
	People int
	Seats  int
	Rate   float64 // calls a second that the tenant has after a burst

	Additions int // counted
	Lost      int // customers who found an empty list
	Ceilings  int // people who reached the company's ceiling
	Events    int // that refreshers get
	Changes   int // times that the facts ask for another list of a code
	ByCause   map[Cause]int
	Pushes    int // calls to WeCom
	Least     int // pushes with the luckiest shuffle of the additions
	Most      int // and with the unluckiest
	Throttled int // pushes that had to wait for the quota

	Hours      []Hour // each a 24th of the Length; what comes later is in the last
	HourLength time.Duration
	Busiest    Busiest
	Saturation Saturation
	Quiet      time.Duration // when the last addition or change of duty was; from the start, as all times
	NearlyAll  time.Duration // by when 99 % of the pushes are made; what comes later is a few codes
	LastPush   time.Duration // 0 without a push
	Endless    bool          // the codes that wait were not pushed within 20 Lengths
	Freshness  Freshness
	Costs      []Cost // the dearest first

	perMinute []int // pushes, each a 1440th of the Length
}

// Merged is how many changes of lists needed no push of their own.
func (o *Outcome) Merged() int { return o.Changes - o.Pushes }

// Drain is how long it takes, when nothing happens any more, until 99 % of the pushes
// are made.
func (o *Outcome) Drain() time.Duration { return max(0, o.NearlyAll-o.Quiet) }

// Hour is a 24th of the campaign.
type Hour struct {
	Pushes  int
	Waiting int // codes behind, at most
}

// Busiest is the fullest of WeCom's long windows.
type Busiest struct {
	Pushes int
	Of     int // that WeCom allows
	At     time.Duration
}

// Share of what WeCom allows, 0 to 1.
func (b Busiest) Share() float64 { return float64(b.Pushes) / float64(max(b.Of, 1)) }

// Saturation is the time in which codes wait for the quota: in line for a call, or
// for their turn in a fan-out or at the keeper, which release at the quota's pace.
// The zero value is none.
type Saturation struct {
	From    time.Duration // when it began first
	Whole   time.Duration // altogether
	Longest time.Duration // the longest without a pause: the drain
	Peak    int           // codes that wait at most
	PeakAt  time.Duration
}

// Freshness is the time from a change of the facts to WeCom, over all pushes.
type Freshness struct{ P50, P95, Max time.Duration }

// Cost is what one person changes.
type Cost struct {
	Person string
	Codes  int // he sits on
	Lists  int // that changed because of him
	Cause  Cause
	At     time.Duration // first
}

// maxCosts bounds the costs that are told.
const maxCosts = 10

// tally is the outcome while it is played.
type tally struct {
	Outcome
	waits        []time.Duration // of all pushes
	times        []time.Duration // of all pushes, in their order
	perWindow    map[int]int
	window       Window
	hour, minute time.Duration
	spellFrom    time.Duration // of the saturation under way
	shortAt      time.Duration // the last step in which the quota was in the way
	costs        []map[Cause]*Cost
}

func newTally(in *Input, people int) *tally {
	t := &tally{perWindow: map[int]int{}, costs: make([]map[Cause]*Cost, people), shortAt: -1}
	t.window = in.Budget.Tenant[len(in.Budget.Tenant)-1]
	t.hour, t.minute = in.Campaign.Length/hours, in.Campaign.Length/minutes
	t.Hours, t.HourLength, t.ByCause = make([]Hour, hours), t.hour, map[Cause]int{}
	return t
}

// change notes that a list is to be another.
func (t *tally) change(person int32, why Cause, at time.Duration) {
	t.Changes++
	t.ByCause[why]++
	if person == nobody {
		return
	}
	if t.costs[person] == nil {
		t.costs[person] = map[Cause]*Cost{}
	}
	cost := t.costs[person][why]
	if cost == nil {
		cost = &Cost{Cause: why, At: at}
		t.costs[person][why] = cost
	}
	cost.Lists++
}

// push notes a push, how long after the change of the facts it was, and since when
// nothing but the quota was in its way.
func (t *tally) push(now, after, ready time.Duration) {
	t.Pushes++
	if t.shortAt >= ready {
		t.Throttled++
	}
	t.LastPush = now
	t.waits, t.times = append(t.waits, after), append(t.times, now)
	t.Hours[min(int(now/t.hour), hours-1)].Pushes++
	t.perWindow[int(now/t.window.Per)]++
	for at := int(now / t.minute); len(t.perMinute) <= at; {
		t.perMinute = append(t.perMinute, 0)
	}
	t.perMinute[int(now/t.minute)]++
}

// pause is the longest time without a wait that does not end a saturation.
func (t *tally) pause() time.Duration { return max(t.minute, 2*time.Second) }

// short notes a step that ended with codes that wait for the quota, or for the
// pace of a release, which is the quota's.
func (t *tally) short(p *play) {
	s, n := &t.Saturation, p.behind
	switch {
	case t.shortAt < 0:
		s.From, t.spellFrom, s.Whole = p.now, p.now, p.step
	case p.now-t.shortAt > t.pause():
		t.spellFrom = p.now
		s.Whole += p.step
	default:
		s.Whole += p.now - t.shortAt
	}
	t.shortAt = p.now
	s.Longest = max(s.Longest, p.now-t.spellFrom+p.step)
	if n > s.Peak {
		s.Peak, s.PeakAt = n, p.now
	}
	h := &t.Hours[min(int(p.now/t.hour), hours-1)]
	h.Waiting = max(h.Waiting, n)
}

// outcome is the whole of it.
func (t *tally) outcome(p *play) Outcome {
	o := t.Outcome
	o.Tenant, o.Codes, o.People = p.in.Company.Tenant, len(p.codes), len(p.people)
	o.Rate, _ = p.in.Budget.Rates()
	for i := range p.codes {
		o.Seats += len(p.codes[i].seats)
	}
	o.Busiest.Of = t.window.Calls
	for at, n := range t.perWindow {
		if n > o.Busiest.Pushes || (n == o.Busiest.Pushes && time.Duration(at)*t.window.Per < o.Busiest.At) {
			o.Busiest.Pushes, o.Busiest.At = n, time.Duration(at)*t.window.Per
		}
	}
	o.Endless = p.inLine() > 0 || len(p.lanes) > 0 || p.release.behind()
	o.NearlyAll = quantile(t.times, 0.99)
	slices.Sort(t.waits)
	o.Freshness = Freshness{P50: quantile(t.waits, 0.5), P95: quantile(t.waits, 0.95), Max: quantile(t.waits, 1)}
	o.Costs = t.dearest(p)
	return o
}

// quantile of sorted times; 0 when there are none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func (t *tally) dearest(p *play) []Cost {
	var all []Cost
	for index, byCause := range t.costs {
		for _, cost := range byCause {
			cost.Person, cost.Codes = p.people[index].ID, len(p.sits[index])
			all = append(all, *cost)
		}
	}
	slices.SortFunc(all, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Lists, a.Lists), cmp.Compare(a.Person, b.Person), cmp.Compare(a.Cause, b.Cause))
	})
	return all[:min(len(all), maxCosts)]
}
