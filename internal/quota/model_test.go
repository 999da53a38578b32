package quota_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// model is what has to come out.
type model struct {
	counters map[push.Ref]*roster.Counters
	added    map[quota.Pair]map[roster.Day]int // by tenant and staff
}

func newModel() model {
	return model{counters: map[push.Ref]*roster.Counters{}, added: map[quota.Pair]map[roster.Day]int{}}
}

func (m model) count(pair quota.Pair, id string, day roster.Day) {
	ref := push.Ref{Tenant: pair.Tenant, Code: id}
	c := m.counters[ref]
	if c == nil {
		c = &roster.Counters{Total: map[string]int{}, InRound: map[string]int{}, Days: map[roster.Day]map[string]int{}}
		m.counters[ref] = c
	}
	c.Total[pair.Staff]++
	c.InRound[pair.Staff]++
	if c.Days[day] == nil {
		c.Days[day] = map[string]int{}
	}
	c.Days[day][pair.Staff]++
	who := quota.Pair{Tenant: pair.Tenant, Staff: pair.Staff}
	if m.added[who] == nil {
		m.added[who] = map[roster.Day]int{}
	}
	m.added[who][day]++
}

func (m model) check(t *testing.T, w *town) {
	t.Helper()
	notices := map[told]bool{}
	for ref, want := range m.counters {
		suitetest.WantSame(t, "counters of "+ref.Code, *want, w.store.Facts(ref).Counters)
		total := 0
		for staff, n := range want.Total {
			total += n
			if n >= perMember {
				notices[told{ref.Tenant, fmt.Sprintf("%s/%s/%s/%d", reason.AtAddLimit, ref.Code, staff, perMember)}] = true
			}
		}
		if w.out.saw[ref] != total {
			t.Errorf("code %s: the last refresh saw %d additions of %d", ref.Code, w.out.saw[ref], total)
		}
		for day, counts := range want.Days {
			for staff, n := range counts {
				if n >= perDay && !strings.HasSuffix(ref.Code, "-0") {
					notices[told{ref.Tenant, fmt.Sprintf("%s/%s/%s/%s", reason.AtDailyLimit, ref.Code, staff, day)}] = true
				}
			}
		}
	}
	m.checkMarks(t, w, notices)
}

// checkMarks: the last day on which somebody reached the company's ceiling has
// his mark, one fan-out and one notice. An earlier day has had them, or its
// additions came after the later mark.
func (m model) checkMarks(t *testing.T, w *town, required map[told]bool) {
	t.Helper()
	fanOuts, optional := w.fanOuts(), map[told]bool{}
	for who, added := range m.added {
		staff := w.store.Facts(push.Ref{Tenant: who.Tenant}).Staff[who.Staff]
		suitetest.WantSame(t, "additions of "+who.Staff, added, staff.Added)
		last := lastAt(added)
		if staff.RemovedOn != last {
			t.Errorf("%v is marked for %q, want %q", who, staff.RemovedOn, last)
		}
		for day, n := range added {
			got := fanOuts[mark{who, day}]
			if got > 1 || got == 1 && n < perStaff || got == 0 && day == last {
				t.Errorf("%v has %d fan-outs for %s after %d additions", who, got, day, n)
			}
			notice := told{who.Tenant, fmt.Sprintf("%s/%s/%s", reason.AtCompanyLimit, who.Staff, day)}
			required[notice] = required[notice] || day == last
			optional[notice] = got == 1
		}
	}
	w.wantNotices(t, required, optional)
}

// lastAt is the last day on which the company's ceiling was reached.
func lastAt(added map[roster.Day]int) roster.Day {
	var last roster.Day
	for day, n := range added {
		if n >= perStaff {
			last = max(last, day)
		}
	}
	return last
}

func (w *town) wantNotices(t *testing.T, required, optional map[told]bool) {
	t.Helper()
	for notice := range w.out.notices {
		if !required[notice] && !optional[notice] {
			t.Errorf("notice %v without a cause", notice)
		}
	}
	for notice, is := range required {
		if _, filed := w.out.notices[notice]; is && !filed {
			t.Errorf("nobody was told of %v", notice)
		}
	}
}

// mark is one of a member and a day.
type mark struct {
	who quota.Pair
	day roster.Day
}

// fanOuts counts them by the mark in whose name they were requested.
func (w *town) fanOuts() map[mark]int {
	counts := map[mark]int{}
	for key := range w.out.requests {
		_, id, _ := strings.Cut(key, "/")
		counts[w.seen.marks[id]]++
	}
	return counts
}

// counting remembers whose additions are counted.
type counting struct {
	quota.Counters
	mu    sync.Mutex
	marks map[string]mark // by the addition's ID
}

func (c *counting) Count(ctx context.Context, pair quota.Pair, a quota.Addition) (quota.Counts, error) {
	c.mu.Lock()
	c.marks[a.ID] = mark{quota.Pair{Tenant: pair.Tenant, Staff: pair.Staff}, a.Day}
	c.mu.Unlock()
	return c.Counters.Count(ctx, pair, a)
}
