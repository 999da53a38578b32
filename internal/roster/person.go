package roster

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// part is the part in which a person appears on a code.
type part int8

const (
	member   part = iota
	backup        // stands in when no member is left
	fallback      // stands in when no backup is left either
	outsider      // on the last list and nowhere on the code any more
)

// noCeiling is the room of whoever has no ceiling.
const noCeiling = -1

// person is one place of a staff member on a code and what is decided of it.
type person struct {
	staff string
	part  part
	place int32 // index in Code.Members, Code.Backups or Tenant.Fallback
	first int32 // index of the person's first place among all people
	full  bool  // a member at his round limit

	listed  bool
	reason  reason.Reason // "" is a member who may be listed, until the list is made
	despite reason.Reason

	// Additions left before the nearest ceiling other than the round's: now,
	// and on a day without additions.
	room, roomTomorrow int
}

// put lists the person for the reason why.
func (p *person) put(why reason.Reason) {
	p.despite, p.reason, p.listed = p.reason, why, true
}

// entry finds a place by its staff member.
type entry struct {
	staff string
	at    int32
}

// gather lays out all places of a code: the members, the backups and, where
// the code's policy asks for them, the tenant's fallback staff. Each place
// learns which is its person's first.
func (d *decider) gather() {
	code, stopgap := &d.facts.Code, d.facts.Tenant.Fallback
	if code.OnEmpty != TenantFallback {
		stopgap = nil
	}
	d.people = make([]person, 0, len(code.Members)+len(code.Backups)+len(stopgap))
	for i := range code.Members {
		d.add(code.Members[i].Staff, member, i)
	}
	for i, staff := range code.Backups {
		d.add(staff, backup, i)
	}
	for i, staff := range stopgap {
		d.add(staff, fallback, i)
	}
	d.order = make([]entry, len(d.people))
	for i := range d.people {
		d.order[i] = entry{staff: d.people[i].staff, at: int32(i)}
	}
	slices.SortFunc(d.order, byStaff)
	d.linkPlaces()
}

func byStaff(a, b entry) int {
	if by := strings.Compare(a.staff, b.staff); by != 0 {
		return by
	}
	return cmp.Compare(a.at, b.at)
}

func (d *decider) add(staff string, part part, place int) *person {
	d.people = append(d.people, person{
		staff: staff, part: part, place: int32(place), first: int32(len(d.people)),
		room: noCeiling, roomTomorrow: noCeiling,
	})
	return &d.people[len(d.people)-1]
}

// linkPlaces leaves in d.order the first place of each person only.
func (d *decider) linkPlaces() {
	kept := d.order[:0]
	for _, e := range d.order {
		if n := len(kept); n > 0 && kept[n-1].staff == e.staff {
			d.people[e.at].first = kept[n-1].at
			continue
		}
		kept = append(kept, e)
	}
	d.order = kept
}

// own reports whether the place numbered i is its person's first.
func (d *decider) own(i int) bool { return d.people[i].first == int32(i) }

// find returns the person's first place on the code; nil when he has none.
func (d *decider) find(staff string) *person {
	i, ok := slices.BinarySearchFunc(d.order, staff, func(e entry, staff string) int {
		return strings.Compare(e.staff, staff)
	})
	if !ok {
		return nil
	}
	return &d.people[d.order[i].at]
}
