package roster

import (
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// defaultRemovalShare is the largest share of a list that one push may remove
// without a reason in the facts, unless the tenant says otherwise.
const defaultRemovalShare = 0.5

// minGuarded is the fewest people the guard holds: a single one may always
// leave, however short the list is.
const minGuarded = 2

// guard keeps people on the list whom no fact takes off it, if they are too
// many: facts that were lost or half written look just like that.
func (d *decider) guard() {
	lost, returns := d.lost()
	held := d.held(len(lost))
	d.noteReturns(len(lost), returns)
	for _, staff := range lost[:held] {
		p := d.find(staff)
		if p == nil {
			p = d.add(staff, outsider, 0)
		}
		p.room, p.roomTomorrow = noCeiling, noCeiling
		d.list(p, reason.Guarded)
	}
	if held > 0 {
		d.notes = append(d.notes, reason.BlastRadius)
	}
}

// held returns how many of those lost the guard keeps; 0 lets all of them go.
//
// The share is asked of the last list and of the list that results. The second
// makes the answer stable: the kept are then lost from that list again, and
// must be as many of it.
func (d *decider) held(lost int) int {
	held := min(lost, MaxListed-d.listed)
	share := d.facts.Tenant.MaxRemovalShare
	if share == 0 {
		share = defaultRemovalShare
	}
	more := func(n, of int) bool { return float64(n) > share*float64(of) }
	if held < minGuarded || !more(lost, len(d.prior)) || !more(held, d.listed+held) {
		return 0
	}
	return held
}

// lost returns who was on the last list, is not on this one, and why is not in
// the facts; sorted. It also returns when others join them because their
// quarantine, which was a reason, ends.
func (d *decider) lost() (lost []string, returns []time.Time) {
	excused := d.edited() || d.last.Kept && !d.keeping
	at := 0
	for _, staff := range d.prior {
		for at < len(d.order) && d.order[at].staff < staff {
			at++
		}
		if at < len(d.order) && d.order[at].staff == staff {
			if p := &d.people[d.order[at].at]; !p.listed && p.reason == reason.StaffMissing {
				lost = append(lost, staff)
			}
			continue
		}
		if excused {
			continue
		}
		s, known := d.facts.Staff[staff]
		switch {
		case !known:
			lost = append(lost, staff)
		case s.Resigned || d.keeping:
			// Resigned: WeCom would refuse the list. Keeping: whoever can be
			// kept is listed already.
		case s.QuarantinedUntil.After(d.now):
			returns = append(returns, s.QuarantinedUntil)
		default:
			lost = append(lost, staff)
		}
	}
	return lost, returns
}

// noteReturns notes the first end of a quarantine at which the guard holds
// people whom it does not hold now: the more are lost, the sooner it does.
func (d *decider) noteReturns(lost int, returns []time.Time) {
	slices.SortFunc(returns, time.Time.Compare)
	for i, at := range returns {
		if d.held(lost+i+1) > 0 {
			d.changesAt(at)
			return
		}
	}
}
