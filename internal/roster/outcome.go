package roster

import (
	"slices"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// judged takes over what the rules say of the person.
func (p *person) judged(st standing) {
	p.reason, p.room, p.roomTomorrow = st.bar, st.room, st.roomTomorrow
}

// verdict writes down what was decided.
func (d *decider) verdict(rules *LaneRules) Verdict {
	lane, until := rules.lane(&d.facts.Code, &d.facts.Tenant, d.now)
	if !until.IsZero() {
		d.changesAt(until)
	}
	v := Verdict{
		Members:  d.members(),
		Rotation: d.rotation(),
		Round:    d.facts.Counters.Round,
		PerStaff: d.judgements(),
		Lane:     lane,
		Notes:    d.notes,
	}
	if d.advanced {
		v.Round++
	}
	v.Hash = hashOf(v.Members, d.facts)
	if !d.change.IsZero() {
		v.NextChange = d.change.UTC().Round(0)
	}
	return v
}

// Without is the verdict with some members off its list, for a push that finds
// out which of them WeCom refuses. Nothing else changes, the rotation set
// included.
func (v Verdict) Without(members []string, facts *Facts) Verdict {
	v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(m string) bool { return slices.Contains(members, m) })
	v.Hash = hashOf(v.Members, facts)
	return v
}

// members returns the listed people, sorted.
func (d *decider) members() []string {
	if d.listed == 0 {
		return nil
	}
	list := make([]string, 0, d.listed)
	for _, e := range d.order {
		if d.people[e.at].listed {
			list = append(list, e.staff)
		}
	}
	if len(list) == d.listed {
		return list
	}
	for i := range d.people {
		if p := &d.people[i]; p.part == outsider {
			list = append(list, p.staff)
		}
	}
	slices.Sort(list)
	return list
}

// judgements says of each person who was considered what was decided.
func (d *decider) judgements() []Judgement {
	if len(d.people) == 0 {
		return nil
	}
	all := make([]Judgement, 0, len(d.people))
	for i := range d.people {
		p := &d.people[i]
		if !d.own(i) || p.reason == "" {
			continue // a further place, or fallback staff not considered
		}
		all = append(all, Judgement{Staff: p.staff, Included: p.listed, Reason: p.reason, Despite: p.despite})
	}
	return all
}

// rotation returns the seats of the listed people, and notes midnight when it
// gives somebody room again.
func (d *decider) rotation() []Seat {
	if !d.facts.Code.Family.Rotates() || d.listed == 0 {
		return nil
	}
	seats := make([]Seat, 0, d.listed)
	for i := range d.people {
		p := &d.people[i]
		if !p.listed {
			continue
		}
		room, tomorrow := p.room, p.roomTomorrow
		if left, limited := d.roundRoom(p); limited {
			room, tomorrow = nearer(room, left), nearer(tomorrow, left)
		}
		if tomorrow != room {
			d.changesAtMidnight()
		}
		seats = append(seats, Seat{
			Staff: p.staff, Headroom: room, Counted: d.facts.Counters.Total[p.staff], Company: d.companyDay(p),
		})
	}
	return seats
}

// companyDay returns what the company's daily total leaves a listed person, and
// notes midnight when additions of today are forgotten then. Whoever is listed
// in spite of the rules has no ceiling.
func (d *decider) companyDay(p *person) CompanyDay {
	total := d.facts.Tenant.DailyTotal
	if total == 0 || p.room == noCeiling {
		return CompanyDay{}
	}
	day := CompanyDay{Total: total, Counted: d.facts.Staff[p.staff].Added[d.today]}
	if day.Counted != 0 {
		at, _ := d.midnight()
		day.Until = at.Unix()
		d.changesAt(at)
	}
	return day
}

// roundRoom returns the additions a member has left in the verdict's round;
// false when the round does not limit him.
func (d *decider) roundRoom(p *person) (int, bool) {
	if p.reason != reason.Eligible || !d.facts.Code.Switches.RoundLimit {
		return 0, false
	}
	limit := d.facts.Code.Members[p.place].RoundLimit
	if limit == 0 {
		return 0, false
	}
	if d.advanced {
		return limit, true
	}
	return limit - d.facts.Counters.InRound[p.staff], true
}
