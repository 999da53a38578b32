package campaign

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// tally counts what the report tells. Its methods may be called from several
// goroutines.
type tally struct {
	mu          sync.Mutex
	netChanges  int
	staleCount  int
	stories     []string // of stale pushes
	noMatch     int
	scans       int
	lost        int
	misassigned int
	byCause     map[reason.Reason]int
	byFamily    map[roster.Family]int
	drawn       map[reason.Reason]int // of codes that are drawn from, by cause
	byAge       map[string]int
	byTenant    map[string]int
	additions   int
	over        map[string]int // additions beyond a ceiling, by family and ceiling
	all, calm   *hdrhistogram.Histogram
	recent      *hdrhistogram.Histogram // calm, since the last line of the table
	roll, still *hdrhistogram.Histogram // calm, in the present roll and outside of rolls
	inRoll      bool
}

// Freshness is recorded in microseconds, up to ten minutes.
func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 600_000_000, 3) }

func newTally() *tally {
	return &tally{
		byCause: map[reason.Reason]int{}, byFamily: map[roster.Family]int{}, drawn: map[reason.Reason]int{}, byAge: map[string]int{}, byTenant: map[string]int{}, over: map[string]int{},
		all: newHistogram(), calm: newHistogram(), recent: newHistogram(), roll: newHistogram(), still: newHistogram(),
	}
}

func (t *tally) with(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}

func (t *tally) netChange() { t.with(func() { t.netChanges++ }) }
func (t *tally) unmatched() { t.with(func() { t.noMatch++ }) }

// stale counts a stale push and keeps its story.
func (t *tally) stale(story string) {
	t.with(func() {
		t.staleCount++
		t.stories = append(t.stories, story)
	})
}

// fresh notes how long a list took to reach WeCom; freshCalm is the same for a
// tenant that keeps within its quota.
func (t *tally) fresh(age time.Duration) { t.with(func() { record(age, t.all) }) }

func (t *tally) freshCalm(age time.Duration) {
	t.with(func() {
		phase := t.still
		if t.inRoll {
			phase = t.roll
		}
		record(age, t.all, t.calm, t.recent, phase)
	})
}

// rollBegins parts what follows from the time outside of rolls.
func (t *tally) rollBegins() { t.with(func() { t.inRoll = true; t.roll.Reset() }) }

// rollEnds returns how fresh lists were since the roll began.
func (t *tally) rollEnds() (q Quantiles) {
	t.with(func() { q, t.inRoll = quantiles(t.roll), false })
	return q
}

// opened forgets how fresh the first lists were.
func (t *tally) opened() {
	t.with(func() {
		for _, h := range []*hdrhistogram.Histogram{t.all, t.calm, t.recent, t.still} {
			h.Reset()
		}
	})
}

func record(age time.Duration, into ...*hdrhistogram.Histogram) {
	for _, h := range into {
		_ = h.RecordValue(max(age.Microseconds(), 1)) // beyond the range: ten minutes late is ten minutes late
	}
}

func (t *tally) scan(j judgement) {
	t.with(func() {
		t.scans++
		if j.cause == "" {
			return
		}
		t.misassigned++
		t.byCause[j.cause]++
		t.byFamily[j.family]++
		if j.family.Rotates() {
			t.drawn[j.cause]++
		}
		t.byAge[ageClass(j.age)]++
		if j.calm {
			t.byTenant["calm"]++
		} else {
			t.byTenant["storm"]++
		}
	})
}

// addition counts one, and the ceilings that it passed.
func (t *tally) addition(family roster.Family, passed []reason.Reason) {
	t.with(func() {
		t.additions++
		for _, ceiling := range passed {
			t.over[string(family)+" "+ceiling.String()]++
		}
	})
}

func (t *tally) lostScan() { t.with(func() { t.scans++; t.lost++ }) }

// ageClass groups the age of the fact that a misassigned scan contradicts.
func ageClass(age time.Duration) string {
	switch {
	case age < 100*time.Millisecond:
		return "under_100ms"
	case age < time.Second:
		return "under_1s"
	case age < 5*time.Second:
		return "under_5s"
	}
	return "over_5s"
}

// recentFreshness returns the quantiles since it was last asked.
func (t *tally) recentFreshness() (p50, p95 time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p50, p95 = quantile(t.recent, 50), quantile(t.recent, 95)
	t.recent.Reset()
	return p50, p95
}

func quantile(h *hdrhistogram.Histogram, q float64) time.Duration {
	if h.TotalCount() == 0 {
		return 0
	}
	return time.Duration(h.ValueAtQuantile(q)) * time.Microsecond
}
