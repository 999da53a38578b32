package roster

import (
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Decide returns what the facts of a code ask for at now. last is what the
// code's last push left at WeCom; it matters when nobody is left and for the
// blast-radius guard. Its order and repetitions do not matter.
//
// The error is an *InvalidError, and wraps ErrInvalid, when the facts
// contradict themselves. Only facts that a rule of this code reads are looked
// at, whatever the instant. The rules and their order are in
// docs/deciding.md.
//
// The verdict on a deleted code has an empty list, no notes and judges
// nobody: there is nothing to keep true, so nothing is wrong.
//
// Deciding is stable: once the verdict is pushed and is last (its Members, the
// code's Revision, Kept if it notes reason.NobodyLeft), the same facts give it
// again; only NextChange may be later, when it rested on somebody who left.
func Decide(f Facts, last Last, rules LaneRules, now time.Time) (Verdict, error) {
	if f.Code.Deleted {
		return Verdict{Round: f.Counters.Round, Hash: hashOf(nil, &f)}, nil
	}
	d := decider{facts: &f, last: &last, now: now}
	if err := d.begin(); err != nil {
		return Verdict{}, err
	}
	if err := d.judgeMembers(); err != nil {
		return Verdict{}, err
	}
	if err := d.checkReserves(); err != nil {
		return Verdict{}, err
	}
	d.listMembers()
	if d.listed == 0 {
		d.nobodyLeft()
	}
	d.guard()
	return d.verdict(&rules), nil
}

// judgeMembers looks up and judges every member, the round limit aside.
func (d *decider) judgeMembers() error {
	for i := range d.people {
		p := &d.people[i]
		if p.part != member || !d.own(i) {
			continue
		}
		s, known := d.facts.Staff[p.staff]
		if err := d.check(p.staff, &s); err != nil {
			return err
		}
		limits := &d.facts.Code.Members[p.place]
		p.judged(d.judge(p.staff, &s, known, limits))
		if p.reason != "" {
			continue
		}
		d.open++
		if d.atRoundLimit(p.staff, limits) {
			p.full = true
			d.full++
		}
	}
	d.advanced = d.open > 0 && d.full == d.open
	return nil
}

// checkReserves looks at the facts of backups and fallback staff, needed or
// not, so that facts do not become invalid when a member goes home.
func (d *decider) checkReserves() error {
	for i := range d.people {
		p := &d.people[i]
		if p.part == member || !d.own(i) {
			continue
		}
		if p.part == backup {
			p.reason = reason.BackupNotNeeded
		}
		s := d.facts.Staff[p.staff]
		if err := d.check(p.staff, &s); err != nil {
			return err
		}
	}
	return nil
}

// listMembers lists the members that nothing keeps off, up to WeCom's cap.
func (d *decider) listMembers() {
	if d.advanced {
		d.notes = append(d.notes, reason.RoundAdvanced)
	}
	for i := range d.people {
		p := &d.people[i]
		switch {
		case p.part != member || !d.own(i) || p.reason != "":
		case p.full && !d.advanced:
			p.reason = reason.AtRoundLimit
		default:
			d.admit(p, reason.Eligible)
		}
	}
}

// admit lists a person whom no rule keeps off, if there is a place left.
func (d *decider) admit(p *person, why reason.Reason) {
	if d.listed < MaxListed {
		d.list(p, why)
		return
	}
	p.reason = reason.OverMemberCap
	if !slices.Contains(d.notes, reason.MemberCap) {
		d.notes = append(d.notes, reason.MemberCap)
	}
}

func (d *decider) list(p *person, why reason.Reason) {
	p.put(why)
	d.listed++
}
