package roster

import (
	"slices"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// nobodyLeft fills a list for which no member is left: backups, else the
// tenant's fallback staff if the policy says so, else the last list.
func (d *decider) nobodyLeft() {
	d.reserves = true
	d.standIn(backup, reason.BackupInUse)
	if d.listed == 0 {
		d.standIn(fallback, reason.FallbackInUse)
	}
	if d.listed > 0 {
		return
	}
	d.keeping = true
	d.notes = append(d.notes, reason.NobodyLeft)
	d.keep()
}

// standIn lists the people of a part whom the rules allow, the code's own
// limits aside. A member at one of these limits may stand in as well.
func (d *decider) standIn(part part, why reason.Reason) {
	for i := range d.people {
		if d.people[i].part != part {
			continue
		}
		p := &d.people[d.people[i].first]
		if p.listed || p.reason == reason.OverMemberCap {
			continue // one of several places of one person
		}
		s, known := d.facts.Staff[p.staff]
		st := d.judge(p.staff, &s, known, nil)
		if p.part == part {
			p.reason = "" // not "not needed" any more
			p.judged(st)
		}
		if st.bar == "" {
			p.room, p.roomTomorrow = st.room, st.roomTomorrow
			d.admit(p, why)
		}
	}
}

// keep lists those of the last list whom WeCom will take. An edit of the code
// that took somebody off is respected as long as anybody else can be kept.
func (d *decider) keep() {
	for _, staff := range d.prior {
		if p := d.find(staff); p != nil && d.keepable(staff) {
			d.keepListed(p)
		}
	}
	if d.edited() && d.listed > 0 {
		return
	}
	for _, staff := range d.prior {
		if d.find(staff) == nil && d.keepable(staff) {
			d.keepListed(d.add(staff, outsider, 0))
		}
	}
}

func (d *decider) keepListed(p *person) {
	if d.listed == MaxListed {
		return
	}
	p.room, p.roomTomorrow = noCeiling, noCeiling
	d.list(p, reason.KeptLast)
}

// keepable reports whether WeCom takes a staff member at all.
func (d *decider) keepable(staff string) bool {
	s, known := d.facts.Staff[staff]
	if !known || s.Resigned {
		return false
	}
	if s.QuarantinedUntil.After(d.now) {
		d.changesAt(s.QuarantinedUntil)
		return false
	}
	return true
}

// edited reports whether the code was edited since the last push, so that
// whoever is not on it any more was taken off on purpose.
func (d *decider) edited() bool { return d.facts.Code.Revision != d.last.Revision }

// sortedOnce returns the names sorted and without repetition; the slice
// itself when it is so already.
func sortedOnce(names []string) []string {
	for i := 1; i < len(names); i++ {
		if names[i-1] >= names[i] {
			names = slices.Clone(names)
			slices.Sort(names)
			return slices.Compact(names)
		}
	}
	return names
}
