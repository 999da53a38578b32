package shadow

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

const reportPage = 500

// Report tells how far a tenant is; push.ErrUnknownTenant.
func (d *Desk) Report(ctx context.Context, tenant string) (Readiness, error) {
	zone, err := d.directory.Zone(ctx, tenant)
	if err != nil {
		return Readiness{}, err
	}
	g := &gathering{now: d.now(), zone: zone, days: map[roster.Day]*Tally{}, causes: map[Cause]int{}}
	for after := ""; ; {
		page, err := d.directory.Codes(ctx, tenant, after, reportPage)
		if err != nil {
			return Readiness{}, fmt.Errorf("list the codes of tenant %s: %w", tenant, err)
		}
		if err := d.gather(ctx, g, tenant, page); err != nil {
			return Readiness{}, err
		}
		if len(page) < reportPage {
			break
		}
		after = page[len(page)-1].Code
	}
	return g.readiness(tenant), nil
}

func (d *Desk) gather(ctx context.Context, g *gathering, tenant string, page []Listed) error {
	ids := make([]string, len(page))
	for i, one := range page {
		ids[i] = one.Code
	}
	states, err := d.store.States(ctx, tenant, ids)
	if err != nil {
		return fmt.Errorf("read the shadows of tenant %s: %w", tenant, err)
	}
	for _, one := range page {
		g.add(one, states[one.Code])
	}
	return nil
}

// gathering adds a tenant's codes up.
type gathering struct {
	now      time.Time
	zone     *time.Location
	codes    Codes
	days     map[roster.Day]*Tally
	causes   map[Cause]int
	first    []time.Time // first comparisons
	examples []Example
	silent   []string // never reported
}

// add takes a code in; its state is the zero State when there is none.
func (g *gathering) add(code Listed, s State) {
	for day, tally := range s.Days {
		g.day(day).add(tally)
	}
	g.codes.Total++
	if !code.Shadow {
		g.codes.Live++
		return
	}
	g.codes.InShadow++
	decided, reported := s.Decided(), s.ReportedIn(code.Term)
	if decided {
		g.codes.WithVerdict++
	}
	if reported {
		g.codes.Reported++
	} else {
		g.silent = atMost(append(g.silent, code.Code), MaxExamples)
	}
	s.Verdict = s.Verdict.in(code.Term)
	if decided && reported {
		g.both(s)
	}
	g.verdict(s)
}

// both counts a code both of whose sides are known.
func (g *gathering) both(s State) {
	if s.Verdict.Outcome == "" {
		g.codes.Waiting++
	}
	if !s.Changed.IsZero() {
		g.codes.Settling++
	}
}

func (g *gathering) verdict(s State) {
	if s.Verdict.Outcome != "" {
		g.codes.Compared++
		g.first = append(g.first, s.Verdict.First)
	}
	switch s.Verdict.Outcome {
	case Match:
		g.codes.Matching++
	case NoVerdict:
		g.codes.NobodyLeft++
	case Mismatch:
		g.codes.Mismatching++
		g.mismatch(s)
	}
}

// mismatch takes in lists that differ. They have on every day since.
func (g *gathering) mismatch(s State) {
	for _, cause := range Causes(s.Verdict.Differences) {
		g.causes[cause]++
	}
	for _, day := range daysAfter(s.Verdict.Since, g.now, g.zone) {
		g.day(day).Standing++
	}
	g.examples = append(g.examples, Example{
		Code: s.Code, Ours: orEmpty(s.Ours.Members), Theirs: orEmpty(s.Theirs.Members), Source: s.Theirs.Source,
		Since: s.Verdict.Since, Differences: s.Verdict.Differences,
	})
	slices.SortStableFunc(g.examples, func(a, b Example) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Code, b.Code))
	})
	g.examples = atMost(g.examples, MaxExamples)
}

func (g *gathering) day(day roster.Day) *Tally {
	if g.days[day] == nil {
		g.days[day] = &Tally{Causes: map[Cause]int{}}
	}
	return g.days[day]
}

func (t *Tally) add(more Tally) {
	t.Compared += more.Compared
	t.Matched += more.Matched
	t.Mismatched += more.Mismatched
	t.Standing += more.Standing
	for cause, n := range more.Causes {
		t.Causes[cause] += n
	}
}

func (g *gathering) readiness(tenant string) Readiness {
	r := Readiness{
		Tenant: tenant, At: g.now, TimeZone: g.zone.String(), Codes: g.codes, Causes: counted(g.causes),
		Examples: orEmpty(g.examples), NeverReported: orEmpty(g.silent), DaysClean: g.clean(), DaysNeeded: DaysNeeded,
	}
	r.Today = g.shown(0)
	for back := 1; back < DaysShown; back++ {
		r.Days = append(r.Days, g.shown(back))
	}
	r.judge()
	return r
}

func (g *gathering) shown(back int) Day {
	day := dayBack(g.now, g.zone, back)
	t := g.day(day)
	return Day{
		Day: day, Clean: t.Clean(), Compared: t.Compared, Matched: t.Matched, Mismatched: t.Mismatched,
		Standing: t.Standing, Causes: counted(t.Causes),
	}
}

// clean counts the days back from yesterday.
func (g *gathering) clean() int {
	begin, begun := g.begin()
	if !begun {
		return 0
	}
	days := 0
	for back := 1; back <= DaysKept; back++ {
		day := dayBack(g.now, g.zone, back)
		if day <= begin || !g.day(day).Clean() {
			break
		}
		days++
	}
	return days
}

// begin is the day by which nine tenths of the codes were compared first: before
// it a clean day says little, and a code that was made yesterday is no reason to
// begin anew.
func (g *gathering) begin() (roster.Day, bool) {
	if len(g.first) == 0 {
		return "", false
	}
	slices.SortFunc(g.first, time.Time.Compare)
	most := (9*len(g.first) + 9) / 10 // rounded up, so at least one
	return roster.DayOf(g.first[most-1], g.zone), true
}

// counted lists causes, the commonest first.
func counted(causes map[Cause]int) []CauseCount {
	list := make([]CauseCount, 0, len(causes))
	for _, cause := range slices.SortedFunc(maps.Keys(causes), compareCauses) {
		list = append(list, CauseCount{cause, causes[cause]})
	}
	slices.SortStableFunc(list, func(a, b CauseCount) int { return cmp.Compare(b.Codes, a.Codes) })
	return list
}

func atMost[T any](list []T, n int) []T { return list[:min(len(list), n)] }

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
