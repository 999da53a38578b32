//go:build integration

package quota

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/test/await"
)

// The world that is counted in.
const (
	tenants      = 3
	staffOfOne   = 24 // of a tenant
	codesOfOne   = 40
	dailyCeiling = 12
)

// Every addition is counted exactly once, on its code and on its staff member,
// although events come twice, late, out of order and in halves, and although
// ingresses die before and after every step of their way; every member who
// reached his ceiling has one mark, one fan-out and one notice.
func TestCountersAreExact(t *testing.T) {
	callbacks, rounds := 2_500, 1
	if *full {
		callbacks, rounds = 20_000, 4
	}
	h := newHouse(t)
	h.seedWorld()
	_, err := h.fleet.Start(t.Context(), "keeper")
	h.must(err)
	seed := rand.Uint64()
	events, want := plan(rand.New(rand.NewPCG(seed, 1)), callbacks)
	w := newWeCom(h.codecs)
	k := &killer{house: h, wecom: w, due: manyDeaths(rand.New(rand.NewPCG(seed, 2)), rounds)}

	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	begun := time.Now()
	killing, stopKilling := context.WithCancel(ctx)
	var lives sync.WaitGroup
	for range 2 {
		lives.Go(func() { k.lives(killing) })
	}
	h.must(w.tellAll(ctx, events, 24))
	took := time.Since(begun)
	for k.left() > 0 { // who has not died yet dies of what was told before
		h.must(w.tellAll(ctx, events[:200], 24))
	}
	stopKilling()
	lives.Wait()

	h.settled(ctx)
	if diff := cmp.Diff(want, h.counted()); diff != "" {
		t.Errorf("seed %d: counters (-told +counted):\n%s", seed, diff)
	}
	marks := h.checkCeilings(want)
	h.checkPublished(want)
	k.check()
	t.Logf("%d callbacks of %d additions, %d attempts, in %.1f s (%.0f callbacks/s); %d ingresses killed, at %d steps; every counter exact; %d members at their ceiling, each with one mark, fan-out and notice; seed %d",
		len(events), want.total(), w.attempts.Load(), took.Seconds(), float64(len(events))/took.Seconds(), k.kills(), len(k.at), marks, seed)
}

func (h *house) seedWorld() {
	for i := range tenants {
		id := tenantID(i)
		h.addTenant(roster.Tenant{ID: id, DailyTotal: dailyCeiling})
		var staff []roster.Staff
		for s := range staffOfOne {
			staff = append(staff, roster.Staff{ID: staffID(s)})
		}
		h.must(h.db.Facts().PutStaff(h.Context(), id, staff...))
		var codes []roster.Code
		for c := range codesOfOne {
			codes = append(codes, roster.Code{
				ID: codeID(i, c), Tenant: id, ConfigID: "cfg-" + codeID(i, c), Family: roster.Native, State: codeID(i, c), Revision: 1,
				Members: []roster.Member{{Staff: staffID(c % staffOfOne)}, {Staff: staffID((c + 1) % staffOfOne)}},
			})
		}
		h.must(h.db.Facts().PutCodes(h.Context(), codes...))
	}
}

func tenantID(i int) string       { return "t" + strconv.Itoa(i) }
func staffID(i int) string        { return "s." + strconv.Itoa(i) } // a dot is no path
func codeID(tenant, i int) string { return fmt.Sprintf("t%d-c%d", tenant, i) }

// counts are additions: by tenant, code and staff member, and by tenant, staff
// member and day.
type counts struct {
	ByCode  map[string]int // "tenant code staff"
	ByStaff map[string]int // "tenant staff day"
}

func newCounts() counts { return counts{ByCode: map[string]int{}, ByStaff: map[string]int{}} }

func (c counts) add(tenant, code, staff string, at time.Time) {
	c.ByCode[tenant+" "+code+" "+staff]++
	c.ByStaff[tenant+" "+staff+" "+string(roster.DayOf(at, shanghai))]++
}

func (c counts) total() int {
	sum := 0
	for _, n := range c.ByCode {
		sum += n
	}
	return sum
}

var shanghai = time.FixedZone("Asia/Shanghai", 8*60*60)

// plan makes about so many callbacks, and says what they come to. One in ten
// additions comes in halves, one in ten ends and begins again, one event in ten
// comes twice, and all come out of order within a window.
func plan(rnd *rand.Rand, callbacks int) ([]told, counts) {
	var events []told
	want := newCounts()
	start := time.Now().Add(-time.Minute).Truncate(time.Second)
	for i := 0; len(events) < callbacks; i++ {
		tenant, c := rnd.IntN(tenants), rnd.IntN(codesOfOne)
		e := told{
			tenant: tenantID(tenant), event: "change_external_contact", change: "add_external_contact",
			staff: staffID((c + rnd.IntN(2)) % staffOfOne), customer: fmt.Sprintf("wm%08d", i),
			state: codeID(tenant, c), at: start.Add(time.Duration(i/100) * time.Second),
		}
		mine := []told{e}
		want.add(e.tenant, e.state, e.staff, e.at)
		switch rnd.IntN(10) {
		case 0:
			half := e
			half.change, half.at = "add_half_external_contact", e.at.Add(-time.Second)
			mine = append(mine, half)
		case 1:
			end, again := e, e
			end.change, end.at, end.state = "del_follow_user", e.at.Add(5*time.Second), ""
			again.at = e.at.Add(10 * time.Second)
			mine = append(mine, end, again)
			want.add(e.tenant, e.state, e.staff, again.at)
		case 2:
			moved := told{
				tenant: e.tenant, event: "change_contact", change: "update_user", staff: e.staff, at: e.at,
				more: "<Department><![CDATA[1,2]]></Department>",
			}
			mine = append(mine, moved)
		}
		for _, one := range mine {
			events = append(events, one)
			if rnd.IntN(10) == 0 {
				events = append(events, one)
			}
		}
	}
	const window = 200
	for i := range events {
		j := min(len(events)-1, i+rnd.IntN(window))
		events[i], events[j] = events[j], events[i]
	}
	return events, want
}

// settled waits until no addition is open.
func (h *house) settled(ctx context.Context) {
	h.Helper()
	await.Until(h, time.Minute, 50*time.Millisecond, "no addition is open", func() bool {
		open, err := h.db.Quota().Open(ctx, time.Now().Add(time.Hour), 1)
		h.must(err)
		return len(open) == 0
	})
}

// counted is what the facts say.
func (h *house) counted() counts {
	h.Helper()
	got := newCounts()
	for i := range tenants {
		tenant := tenantID(i)
		for c := range codesOfOne {
			facts, err := h.db.Store().Facts(h.Context(), push.Ref{Tenant: tenant, Code: codeID(i, c)})
			h.must(err)
			for staff, n := range facts.Counters.Total {
				got.ByCode[tenant+" "+codeID(i, c)+" "+staff] = n
				onDays := 0
				for _, day := range facts.Counters.Days {
					onDays += day[staff]
				}
				if onDays != n || facts.Counters.InRound[staff] != n {
					h.Errorf("%s %s: %d in all, %d on its days, %d in the round", codeID(i, c), staff, n, onDays, facts.Counters.InRound[staff])
				}
			}
			for _, staff := range facts.Staff {
				for day, n := range staff.Added {
					got.ByStaff[tenant+" "+staff.ID+" "+string(day)] = n
				}
			}
		}
	}
	return got
}

// checkCeilings finds one mark, one fan-out and one notice for every member at
// his ceiling, and returns how many those are.
func (h *house) checkCeilings(want counts) int {
	h.Helper()
	marks := 0
	for key, n := range want.ByStaff {
		var tenant, staff, day string
		_, _ = fmt.Sscan(key, &tenant, &staff, &day)
		if n < dailyCeiling {
			continue
		}
		marks++
		job, found, err := h.db.FanOuts().Job(h.Context(), tenant+"/"+staff)
		h.must(err)
		if !found {
			h.Errorf("%s reached his ceiling and there is no fan-out", key)
			continue
		}
		await.Until(h, 30*time.Second, 50*time.Millisecond, "the fan-out of "+key, func() bool {
			job, _, err = h.db.FanOuts().Job(h.Context(), job.ID)
			h.must(err)
			return job.State == fanout.Done
		})
	}
	rows, err := h.db.Deliveries().List(h.Context(), notify.Selection{}, 10_000)
	h.must(err)
	if len(rows) != marks {
		h.Errorf("%d notices were filed for %d members at their ceiling", len(rows), marks)
	}
	return marks
}

// checkPublished finds an event of every code that was added through.
func (h *house) checkPublished(want counts) {
	h.Helper()
	await.Until(h, 20*time.Second, 50*time.Millisecond, "each code that was added through is published", func() bool {
		return len(h.unpublished(want)) == 0
	})
}

// unpublished are the codes without an event, as far as the reader of the topic has
// come.
func (h *house) unpublished(want counts) (codes []string) {
	seen := map[string]bool{}
	for _, e := range h.published() {
		seen[e.Code] = true
	}
	for key := range want.ByCode {
		var tenant, code, staff string
		_, _ = fmt.Sscan(key, &tenant, &code, &staff)
		if !seen[code] {
			codes = append(codes, code)
		}
	}
	return codes
}
