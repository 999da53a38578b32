package plan

import (
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// person is a staff member during the play.
type person struct {
	*Person
	presence roster.Presence
	onShift  bool // by the schedule
	added    int  // today, over all codes
	removed  bool // carries today's mark
}

func (p *person) onDuty() bool {
	return p.presence == roster.Online || (p.presence == roster.PresenceUnset && p.onShift)
}

// code is a code during the play. Lists are in the order of the seats.
type code struct {
	*Code
	seats        []Seat
	want, pushed []int32 // what the facts ask for, and what WeCom has
	stage        stage
	due          bool          // the keeper has it to release
	since        time.Duration // when want began to differ from pushed
	opened       time.Duration // when its lane opened last
	lastPush     time.Duration // less than 0 before Start
	everPushed   bool
	drawn        int // draws so far, for their turns
}

// stage is where a code is on its way to a push.
type stage int8

const (
	resting stage = iota
	lining        // in line for the budget
	waiting       // for its lane
)

func (c *code) stale() bool { return !slices.Equal(c.want, c.pushed) }

// removes reports whether the next push takes somebody off.
func (c *code) removes() bool {
	for _, p := range c.pushed {
		if !slices.Contains(c.want, p) {
			return true
		}
	}
	return false
}

// cast is everybody and everything at one moment of the play.
type cast struct {
	dailyTotal int
	people     []person
	codes      []code
	sits       [][]int32 // the codes of each person, in their order
	scratch    []int32
}

func newCast(in *Input) *cast {
	c := &cast{dailyTotal: in.Company.DailyTotal, sits: in.Company.places()}
	for i := range in.Company.People {
		p := &in.Company.People[i]
		c.people = append(c.people, person{Person: p, presence: p.Presence, onShift: true, added: p.AddedToday, removed: p.Removed})
	}
	for i := range in.Company.Codes {
		from := &in.Company.Codes[i]
		one := code{Code: from, seats: slices.Clone(from.Seats), everPushed: !from.LastPush.IsZero()}
		if one.everPushed {
			one.lastPush = from.LastPush.Sub(in.Campaign.Start)
		}
		c.codes = append(c.codes, one)
	}
	return c
}

// settle makes every list what the facts ask for: the play begins at rest. A code
// with nobody left has its last list; all its members were on it at some time.
func (c *cast) settle() {
	for i := range c.codes {
		one := &c.codes[i]
		one.want = slices.Clone(c.list(one))
		if len(one.want) == 0 {
			one.want = c.unbarred(one)
		}
		one.pushed = one.want
	}
}

func (c *cast) unbarred(one *code) []int32 {
	var out []int32
	for i := range one.seats {
		if person := one.seats[i].Person; !c.people[person].Barred {
			out = append(out, person)
		}
	}
	return out
}

// allowed reports whether the company's rules and his duty leave a person on a
// code.
func (c *cast) allowed(one *code, index int32) bool {
	p := &c.people[index]
	if p.Barred || p.removed || (c.dailyTotal > 0 && p.added >= c.dailyTotal) {
		return false
	}
	return !one.OfflineCheck || p.onDuty()
}

func (s *Seat) atCeiling() bool {
	return (s.AddLimit > 0 && s.Added >= s.AddLimit) || (s.DailyLimit > 0 && s.Today >= s.DailyLimit)
}

func (s *Seat) hadHisRound() bool { return s.RoundLimit > 0 && s.InRound >= s.RoundLimit }

// list is what the facts ask for: the members whom no rule keeps off, else the
// reserves, else the last list. A round in which all have had their share ends.
// The answer is valid until the next call.
func (c *cast) list(one *code) []int32 {
	open, out := 0, c.scratch[:0]
	for i := range one.seats {
		seat := &one.seats[i]
		if seat.atCeiling() || !c.allowed(one, seat.Person) {
			continue
		}
		open++
		if !seat.hadHisRound() {
			out = append(out, seat.Person)
		}
	}
	if open > 0 && len(out) == 0 {
		for i := range one.seats {
			one.seats[i].InRound = 0
		}
		return c.list(one)
	}
	if open == 0 {
		out = c.standIns(one, out)
	}
	c.scratch = out
	if len(out) == 0 {
		return one.pushed
	}
	return out[:min(len(out), roster.MaxListed)]
}

// standIns are those of the first reserves of whom anybody is allowed.
func (c *cast) standIns(one *code, out []int32) []int32 {
	for _, reserves := range one.Reserves {
		for _, p := range reserves {
			if c.allowed(one, p) && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// addition counts one customer of a person on a code and reports whether that
// brought the person to the company's ceiling.
func (c *cast) addition(one *code, index int32) (reached bool) {
	for i := range one.seats {
		if seat := &one.seats[i]; seat.Person == index {
			seat.Added++
			seat.Today++
			seat.InRound++
		}
	}
	p := &c.people[index]
	p.added++
	if c.dailyTotal == 0 || p.added < c.dailyTotal || p.removed {
		return false
	}
	p.removed = true
	return true
}

// midnight begins the day's counts anew.
func (c *cast) midnight() {
	for i := range c.people {
		c.people[i].added, c.people[i].removed = 0, false
	}
	for i := range c.codes {
		for j := range c.codes[i].seats {
			c.codes[i].seats[j].Today = 0
		}
	}
}
