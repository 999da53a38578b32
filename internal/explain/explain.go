package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// Evidence is what was read of a code, all within a moment.
type Evidence struct {
	audit.Look
	Dirty  *Dirty  // nil: not in the dirty set
	Budget Budget  // of the tenant's calls
	Vendor *Vendor // nil: WeCom was not asked
	Trail  []trail.Entry
}

// Dirty is the code's entry in the dirty set.
type Dirty struct {
	Reasons   []reason.Reason
	State     push.DirtyState
	FirstSeen time.Time
	Due       time.Time // when the keeper publishes it; of a released one: when it is looked at
	Attempts  int
	Detail    string
}

// Budget is what stands in the way of a call of the code. Zero times: nothing.
type Budget struct {
	BlockedUntil time.Time // WeCom refuses the tenant's calls (45009)
	Slot         time.Time // the instant that is booked for the code
}

// Vendor is what WeCom holds.
type Vendor struct {
	spot.Way
	Known   bool   // WeCom has the contact way
	Problem string // why it could not be asked; "" when it was
}

// Explanation says of one code, at one instant, who is on its list and why.
type Explanation struct {
	Evidence
	At      time.Time
	Verdict roster.Verdict // the zero Verdict when Finding is hopeless
	Finding audit.Finding
	Staff   []Line // in the order of the verdict, then whoever is on a list for no reason
	// Waits are what stands between the facts and WeCom, the longest first; empty
	// when nothing does. A code whose list is right may still have some.
	Waits []Wait
}

// Line is one staff member of a code.
type Line struct {
	Staff   string
	Listed  bool          // by the facts
	Why     reason.Reason // "" for one whom the code names nowhere
	Despite reason.Reason
	Detail  string // the fact that Why rests on
	Pushed  bool   // on the list that was pushed last
	Held    bool   // on the list that WeCom holds, if it was asked
	Seated  bool   // in the rotation set
}

// Wait is one thing that a push waits for.
type Wait struct {
	Cause  reason.Reason
	Until  time.Time // zero: nobody knows
	Detail string
}

// Of explains a code at now. It decides as a refresher would and compares as the
// audit does.
func Of(e Evidence, rules roster.LaneRules, now time.Time) Explanation {
	x := Explanation{Evidence: e, At: now, Finding: audit.Compare(e.Look, rules, now)}
	if x.Finding.Hopeless() {
		x.Waits = x.waits()
		return x
	}
	var err error
	if x.Verdict, err = roster.Decide(e.Facts, e.Record.Last(), rules, now); err != nil {
		return x // Compare has said so
	}
	x.Staff = x.lines()
	x.Waits = x.waits()
	return x
}

// lines are the verdict's staff, then those who are on a list of ours or WeCom's
// and whom the facts do not know.
func (x *Explanation) lines() []Line {
	lines := make([]Line, 0, len(x.Verdict.PerStaff))
	known := map[string]bool{}
	for _, j := range x.Verdict.PerStaff {
		known[j.Staff] = true
		lines = append(lines, x.line(j))
	}
	for _, list := range [][]string{x.Record.Committed.Members, x.held(), x.Set.Staff} {
		for _, staff := range list {
			if !known[staff] {
				known[staff] = true
				lines = append(lines, x.line(roster.Judgement{Staff: staff}))
			}
		}
	}
	return lines
}

func (x *Explanation) line(j roster.Judgement) Line {
	return Line{
		Staff: j.Staff, Listed: j.Included, Why: j.Reason, Despite: j.Despite,
		Detail: detail(x.Facts, j, x.At),
		Pushed: slices.Contains(x.Record.Committed.Members, j.Staff),
		Held:   slices.Contains(x.held(), j.Staff),
		Seated: slices.Contains(x.Set.Staff, j.Staff),
	}
}

func (x *Explanation) held() []string {
	if x.Vendor == nil {
		return nil
	}
	return x.Vendor.Users
}

// Of one staff member; false when he has nothing to do with the code.
func (x *Explanation) Of(staff string) (Line, bool) {
	i := slices.IndexFunc(x.Staff, func(l Line) bool { return l.Staff == staff })
	if i < 0 {
		return Line{}, false
	}
	return x.Staff[i], true
}

// waits lists what stands in the way, whether or not something has to be pushed
// now.
func (x *Explanation) waits() []Wait {
	var waits []Wait
	add := func(there bool, w Wait) {
		if there {
			waits = append(waits, w)
		}
	}
	code, record, tenant := x.Facts.Code, x.Record, x.Facts.Tenant
	add(x.Finding.Shadowed, Wait{Cause: reason.Shadowed, Detail: "another system writes the list; Rollcall only notes what its own would be"})
	add(!x.Finding.Hopeless() && code.ConfigID == "" && !code.Deleted, Wait{Cause: reason.Wayless, Detail: "the code has no contact way at WeCom yet"})
	hold := x.Facts.Hold(x.At)
	add(hold.Active(x.At), Wait{reason.OnHold, hold.Until, stopped("the list at WeCom stays as it is", hold, time.UTC)})
	add(tenant.Suspension.Active(), Wait{reason.Suspended, tenant.Suspension.NextProbe, suspended(tenant.Suspension)})
	add(x.Budget.BlockedUntil.After(x.At), Wait{reason.Blocked, x.Budget.BlockedUntil, "WeCom answered 45009 and refuses the tenant's calls until then"})
	add(x.Budget.Slot.After(x.At), Wait{reason.Throttled, x.Budget.Slot, "a slot of the tenant's calls is booked for the code"})
	add(record.Failure.NotBefore.After(x.At), Wait{reason.Backoff, record.Failure.NotBefore, failing(record.Failure)})
	for _, i := range record.Intents {
		add(true, Wait{reason.Unsettled, i.Deadline, fmt.Sprintf("%s announced push %d and has not recorded its outcome", i.Owner, i.Epoch)})
	}
	lane := x.Verdict.Lane
	add(lane.Slow() && record.Committed.Epoch > 0 && lane.NotBefore(record.Committed.At).After(x.At),
		Wait{reason.SlowLane, lane.NotBefore(record.Committed.At), "the code is in the slow lane: one push in " + lane.Interval.String()})
	if x.Dirty != nil {
		add(true, Wait{reason.Dirty, x.Dirty.Due, dirtied(*x.Dirty)})
	}
	slices.SortStableFunc(waits, longerFirst)
	return waits
}

// longerFirst sorts what nobody knows the end of before all else.
func longerFirst(a, b Wait) int {
	switch {
	case a.Until.IsZero() && b.Until.IsZero():
		return 0
	case a.Until.IsZero():
		return -1
	case b.Until.IsZero():
		return 1
	}
	return b.Until.Compare(a.Until)
}

func suspended(s roster.Suspension) string {
	return fmt.Sprintf("WeCom refuses the tenant's credentials since %s: %s; one call is tried then", s.Since.UTC().Format(time.RFC3339), s.Detail)
}

func failing(f push.Failure) string {
	return fmt.Sprintf("%d failures in a row, the last one %s: %s", f.Streak, f.Class, f.Message)
}

func dirtied(d Dirty) string {
	words := make([]string, len(d.Reasons))
	for i, r := range d.Reasons {
		words[i] = r.String()
	}
	text := fmt.Sprintf("dirty since %s: %s", d.FirstSeen.UTC().Format(time.RFC3339), strings.Join(words, ", "))
	if d.Detail != "" {
		text += " (" + d.Detail + ")"
	}
	return text
}
