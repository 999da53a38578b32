package campaign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// truth is what the platform knows of one tenant at every instant, and the
// lists that follow from it. It is written before the store is: whatever list
// a refresher decides from the store, the truth has had it.
type truth struct {
	mu     sync.Mutex
	tenant roster.Tenant
	staff  map[string]roster.Staff
	codes  map[string]*codeTruth
	sits   map[string][]string // staff ID → codes
	calm   bool
	tally  *tally
	// stopgaps are customers who met somebody for want of anybody else: a
	// backup or whoever was kept, for whom no ceiling of the code counts.
	stopgaps map[string]bool
}

// codeTruth is one code: its facts, the lists they asked for in turn, and how
// far WeCom has followed.
type codeTruth struct {
	code     roster.Code
	counters roster.Counters
	versions []version
	followed int // index of the newest version that WeCom has held; -1: none
	orders   []order
	atVendor []string
	written  int64 // vendor's version of atVendor
	excluded map[string]time.Time
}

// order is the oldest version that a push can have been decided from, given
// those before it, and when WeCom took it.
type order struct {
	at      time.Time
	version int
}

// version is a list and the instant from which the facts asked for it.
type version struct {
	at      time.Time
	members []string
}

func newTruth(p tenantPlan, t *tally) *truth {
	tr := &truth{
		tenant: p.tenant, staff: map[string]roster.Staff{}, codes: map[string]*codeTruth{}, sits: map[string][]string{}, stopgaps: map[string]bool{},
		calm: p.tenant.ID != stormTenant, tally: t,
	}
	for _, s := range p.staff {
		tr.staff[s.ID] = s
	}
	for _, c := range p.codes {
		tr.codes[c.ID] = &codeTruth{code: c, counters: emptyCounters(), followed: -1, excluded: map[string]time.Time{}}
		tr.seat(c)
	}
	return tr
}

func emptyCounters() roster.Counters {
	return roster.Counters{Total: map[string]int{}, Days: map[roster.Day]map[string]int{}, InRound: map[string]int{}}
}

func (tr *truth) seat(c roster.Code) {
	for _, m := range c.Members {
		tr.sits[m.Staff] = append(tr.sits[m.Staff], c.ID)
	}
	for _, b := range c.Backups {
		tr.sits[b] = append(tr.sits[b], c.ID)
	}
	for staff, codes := range tr.sits {
		slices.Sort(codes)
		tr.sits[staff] = slices.Compact(codes)
	}
}

// changed is what an edit of the facts came to.
type changed struct {
	touched  []string         // codes to publish for
	advanced map[string]int64 // codes whose rotation round is over, and which one
}

// change edits the facts at now and notes the lists of the codes that edit
// names.
func (tr *truth) change(now time.Time, edit func() []string) changed {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	out := changed{touched: edit(), advanced: map[string]int64{}}
	for _, id := range out.touched {
		c := tr.codes[id]
		round := c.counters.Round
		tr.note(c, now)
		if c.counters.Round != round {
			out.advanced[id] = round
		}
	}
	return out
}

// note decides a code's list at now, ends its rotation round if that is over,
// and keeps the list.
func (tr *truth) note(c *codeTruth, now time.Time) {
	v, ok := tr.decide(c, now)
	if ok && v.Round != c.counters.Round {
		c.counters.Round, c.counters.InRound = v.Round, map[string]int{}
		v, ok = tr.decide(c, now)
	}
	if ok {
		tr.keep(c, v, now)
	}
}

// keep notes the list of a verdict as of now, if it is another than before.
func (tr *truth) keep(c *codeTruth, v roster.Verdict, now time.Time) {
	if len(v.Members) == 0 || slices.Contains(v.Notes, reason.NobodyLeft) {
		return
	}
	tr.noteExcluded(c, v, now)
	if n := len(c.versions); n > 0 && slices.Equal(c.versions[n-1].members, v.Members) {
		return
	}
	c.versions = append(c.versions, version{at: now, members: v.Members})
	tr.tally.netChange()
	if slices.Equal(c.atVendor, v.Members) {
		c.followed = len(c.versions) - 1 // back to what WeCom holds: no push will come
	}
}

// noteExcluded keeps since when each member is off the list.
func (tr *truth) noteExcluded(c *codeTruth, v roster.Verdict, now time.Time) {
	for _, j := range v.PerStaff {
		if j.Included {
			delete(c.excluded, j.Staff)
		} else if _, ok := c.excluded[j.Staff]; !ok {
			c.excluded[j.Staff] = now
		}
	}
}

func (tr *truth) decide(c *codeTruth, now time.Time) (roster.Verdict, bool) {
	facts := roster.Facts{Code: c.code, Tenant: tr.tenant, Staff: tr.staff, Counters: c.counters}
	v, err := roster.Decide(facts, roster.Last{Members: c.atVendor, Revision: c.code.Revision}, roster.LaneRules{}, now)
	return v, err == nil
}

// scanned judges whom a customer met at now: the reason that excludes him, and
// for how long it has. "" is a customer well met.
func (tr *truth) scanned(code, member, customer string, now time.Time) judgement {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	c := tr.codes[code]
	out := judgement{family: c.code.Family, calm: tr.calm}
	v, ok := tr.decide(c, now)
	if !ok {
		return out
	}
	tr.noteExcluded(c, v, now)
	for _, j := range v.PerStaff {
		if j.Staff != member {
			continue
		}
		switch {
		case !j.Included:
			out.cause, out.age = j.Reason, now.Sub(c.excluded[member])
		case j.Reason != reason.Eligible:
			tr.stopgaps[customer] = true
		}
		return out
	}
	out.cause = notOnCode
	return out
}

// judgement is what the facts say of one scan.
type judgement struct {
	cause  reason.Reason // why the person met should not have been; "" is a customer well met
	age    time.Duration // of the fact that excludes him
	family roster.Family
	calm   bool // not the tenant that storms
}

// notOnCode is the cause of meeting somebody whom an edit took off the code.
const notOnCode reason.Reason = "not_on_code"

// taken is a push that WeCom took.
type taken struct {
	members  []string
	written  int64     // WeCom's count of the writes on this contact way
	received time.Time // when the call arrived
	at       time.Time // when it took effect
}

// applied notes a push that WeCom has taken.
func (tr *truth) applied(code string, p taken) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	c := tr.codes[code]
	if p.written < c.written {
		return // told late; a newer one has been noted
	}
	at := p.at
	if v, ok := tr.decide(c, at); ok && v.Round == c.counters.Round {
		tr.keep(c, v, at) // a shift may have turned without anybody saying so yet
	}
	c.written = p.written
	c.atVendor = slices.Sorted(slices.Values(p.members))
	tr.order(c, p)
	match := c.newest(at)
	if match <= c.followed {
		return
	}
	note := tr.tally.fresh
	if tr.calm {
		note = tr.tally.freshCalm
	}
	for _, v := range c.versions[c.followed+1 : match+1] {
		note(at.Sub(v.at))
	}
	c.followed = match
}

// order looks for a version that the push can have been decided from: not
// older than that of any push that WeCom had taken when this one arrived. A
// push without one is stale, or a list that the facts never asked for as a
// whole. Two calls that are on the wire at once have no order that anybody
// could keep; the protocol pushes again after such a pair.
func (tr *truth) order(c *codeTruth, p taken) {
	from := 0
	for _, before := range c.orders {
		if !before.at.After(p.received) {
			from = max(from, before.version)
		}
	}
	for i := from; i < len(c.versions) && !c.versions[i].at.After(p.at); i++ {
		if slices.Equal(c.versions[i].members, c.atVendor) {
			c.orders = append(c.orders[max(0, len(c.orders)-ordersKept):], order{p.at, i})
			return
		}
	}
	if c.newest(p.at) >= 0 {
		tr.tally.stale(c.story(p))
	} else {
		tr.tally.unmatched()
	}
}

// story tells of a stale push: the lists of the code, and what WeCom took when.
func (c *codeTruth) story(p taken) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v arrived %s, took effect %s;", c.code.ID, c.atVendor, clockTime(p.received), clockTime(p.at))
	for i, v := range c.versions[max(0, len(c.versions)-storyLines):] {
		fmt.Fprintf(&b, "\n    list %d from %s: %v", max(0, len(c.versions)-storyLines)+i, clockTime(v.at), v.members)
	}
	for _, o := range c.orders[max(0, len(c.orders)-storyLines):] {
		fmt.Fprintf(&b, "\n    push of list %d taken %s", o.version, clockTime(o.at))
	}
	return b.String()
}

const storyLines = 6

func clockTime(t time.Time) string { return t.Format("15:04:05.000") }

// ordersKept is how many pushes of one code can be on the wire at once, and a
// few more.
const ordersKept = 16

// newest finds the newest version until at that asks for what WeCom holds; -1
// is none.
func (c *codeTruth) newest(at time.Time) int {
	for i := len(c.versions) - 1; i >= 0; i-- {
		if !c.versions[i].at.After(at) && slices.Equal(c.versions[i].members, c.atVendor) {
			return i
		}
	}
	return -1
}

// count notes an addition, and which ceilings it passed.
func (tr *truth) count(code, staff, customer string, day roster.Day) {
	c := tr.codes[code]
	defer func() {
		var passed []reason.Reason
		if !tr.stopgaps[customer] {
			passed = tr.passed(c, staff, day)
		}
		tr.tally.addition(c.code.Family, passed)
	}()
	c.counters.Total[staff]++
	c.counters.InRound[staff]++
	if c.counters.Days[day] == nil {
		c.counters.Days[day] = map[string]int{}
	}
	c.counters.Days[day][staff]++
	s := tr.staff[staff]
	added := maps.Clone(s.Added)
	if added == nil {
		added = map[roster.Day]int{}
	}
	added[day]++
	s.Added = added
	tr.staff[staff] = s
}

// passed are the ceilings that a member's additions are beyond.
func (tr *truth) passed(c *codeTruth, staff string, day roster.Day) []reason.Reason {
	var passed []reason.Reason
	check := func(ceiling reason.Reason, on bool, count, limit int) {
		if on && limit > 0 && count > limit {
			passed = append(passed, ceiling)
		}
	}
	check(reason.AtCompanyLimit, true, tr.staff[staff].Added[day], tr.tenant.DailyTotal)
	for _, m := range c.code.Members {
		if m.Staff == staff {
			check(reason.AtAddLimit, c.code.Switches.AddLimit, c.counters.Total[staff], m.AddLimit)
			check(reason.AtDailyLimit, c.code.Switches.DailyLimit, c.counters.Days[day][staff], m.DailyLimit)
		}
	}
	return passed
}
