//go:build integration

package overload_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/test/stack"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// outageForm is how long everything takes.
type outageForm struct {
	windows
	codes       int     // of the tenant that wants too much
	demand      float64 // how many times what it may have it wants
	calmTenants int
	before      time.Duration // under load, before Redis goes
	gone        time.Duration
	returns     []string      // how it comes back, one outage each
	after       time.Duration // under load, once Redis is back
}

func outageForms() form[outageForm] {
	short := outageForm{
		windows: windows{ // 15 a second: a busy machine can do several times as much
			minute: 2 * time.Second, hour: 8 * time.Second, perMinute: 123, perHour: 213, burst: 60, delay: 2 * time.Second,
			parkAfter: 15 * time.Second, maxHold: 3 * time.Second, maxHeld: 5000,
		},
		codes: 150, demand: 4, calmTenants: 4, before: 6 * time.Second, gone: 10 * time.Second, after: 6 * time.Second,
		returns: []string{"empty"},
	}
	full := short
	full.windows = windows{ // 25 a second
		minute: 5 * time.Second, hour: 25 * time.Second, perMinute: 328, perHour: 828, burst: 150, delay: 2 * time.Second,
		parkAfter: 30 * time.Second, maxHold: 5 * time.Second, maxHeld: 5000,
	}
	full.codes, full.before, full.gone, full.after = 400, 15*time.Second, time.Minute, 30*time.Second
	full.returns = []string{"with its data", "empty"}
	return form[outageForm]{short, full, full}
}

// TestRedisGoesAway takes Redis away under load, twice: it comes back first
// with what it knew and then empty. Pushes go on, within what WeCom allows.
func TestRedisGoesAway(t *testing.T) {
	form := outageForms().chosen()
	servers := ownRedis(t)
	calm, greedy := newCalm(), &greedy{form: form}
	h := newHouse(t, servers.Addresses, form.windows, func(call wecomsim.Call) { calm.onCall(call); greedy.onCall(call) })
	calm.seed(h, form.calmTenants)
	greedy.seed(h)
	h.launch()
	calm.warmUp()

	running, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { calm.run(running, 100*time.Millisecond) })
	wg.Go(func() { greedy.run(running) })
	h.busy.since()
	var outages []outage
	for _, how := range form.returns {
		outages = append(outages, takeAway(h, servers, form, how))
	}
	stop()
	wg.Wait()
	began := time.Now()
	h.eventually(time.Minute, 200*time.Millisecond, "every event is acked and nothing is dirty", func() bool {
		return h.backlog() == 0 && h.dirty(1) == 0
	})
	t.Logf("at rest %v after the last event; %s", time.Since(began).Round(time.Second), h.busy.since())
	for _, o := range outages {
		greedy.judge(o)
		t.Logf("calm tenants\n  before %v\n  gone   %v\n  after  %v", calm.between(o.began, o.gone), calm.between(o.gone, o.back), calm.between(o.back, o.over))
	}
	if calm.lost() > 0 {
		t.Errorf("%d changes of calm tenants never reached WeCom", calm.lost())
	}
	greedy.judgeRest(outages[len(outages)-1].gone)
	if n := h.sim.Counters().Of(updateAPI, 45009); n > 0 {
		t.Errorf("%d answers of 45009", n)
	}
	judgeWindows(t, h.sim.Ledger().All(), form.windows)
}

// ownRedis starts a Redis beside the servers of the environment: theirs is not
// ours to stop.
func ownRedis(t *testing.T) *stack.Stack {
	t.Helper()
	for _, address := range []func(testing.TB) string{stacktest.PulsarURL, stacktest.PulsarAdminURL, stacktest.MongoURI} {
		_ = address(t) // ends the test when there is none
	}
	s, err := stack.Start(t.Context(), stack.Options{Getenv: func(name string) string {
		if name == stack.EnvRedisURL {
			return ""
		}
		return os.Getenv(name)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}

// outage is one of them, in time.
type outage struct {
	how                     string
	began, gone, back, over time.Time
}

func takeAway(h *house, servers *stack.Stack, form outageForm, how string) outage {
	h.Helper()
	o := outage{how: how, began: time.Now()}
	h.pause(form.before)
	o.gone = time.Now()
	h.must(servers.Redis.Stop(h.Context()))
	h.pause(form.gone)
	h.Logf("Redis is gone: refreshes that failed since the start, by cause: %s; %s", failures(h), h.busy.since())
	if how == "empty" {
		h.must(os.RemoveAll(filepath.Join(servers.Dir(), servers.Redis.Name())))
	}
	h.must(servers.Redis.Start(h.Context()))
	o.back = time.Now()
	h.pause(form.after)
	o.over = time.Now()
	return o
}

// failures lists the outcomes that say that a store was away.
func failures(h *house) string {
	var out []string
	for name, n := range h.fleet.Figures(h.Context()) {
		if strings.HasPrefix(name, "rollcall_outcomes_total") && strings.Contains(name, `"store_down"`) && n > 0 {
			out = append(out, fmt.Sprintf("%s %.0f", name, n))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// greedy is a tenant that wants several times what it may have. Some of its
// codes have a landing page, and with it a set in Redis.
type greedy struct {
	h    *house
	form outageForm

	mu    sync.Mutex
	codes map[int]presence // those that were changed
	calls []time.Time      // received by WeCom
	sent  int
}

// presence is of the one person of a code, and since when.
type presence struct {
	away  bool
	since time.Time
}

// rotating is how many of its codes have a landing page.
const rotating = 20

func (g *greedy) ref(i int) push.Ref {
	return push.Ref{Tenant: stormTenant, Code: fmt.Sprintf("storm-c%05d", i)}
}

func person(i int) string { return fmt.Sprintf("ann%05d", i) }

func (g *greedy) seed(h *house) {
	h.Helper()
	g.h, g.codes = h, map[int]presence{}
	staff := []roster.Staff{{ID: "bob", Presence: roster.Online}}
	var codes []roster.Code
	for i := range g.form.codes {
		staff = append(staff, roster.Staff{ID: person(i), Presence: roster.Online})
		c := roster.Code{
			ID: g.ref(i).Code, Tenant: stormTenant, Members: members(person(i), "bob"), Switches: roster.Switches{OfflineCheck: true},
		}
		if i < rotating {
			c.Family = roster.Sequenced
		}
		codes = append(codes, c)
	}
	h.tenant(stormTenant, staff...)
	h.codes(codes...)
}

// run changes codes in no order, several times as often as they may be pushed.
func (g *greedy) run(ctx context.Context) {
	rnd := rand.New(rand.NewPCG(1, 2))
	every := time.Duration(float64(time.Second) / g.form.demand / g.form.rate(refreshers))
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			g.change(ctx, rnd.IntN(g.form.codes))
		}
	}
}

func (g *greedy) change(ctx context.Context, i int) {
	ctx = context.WithoutCancel(ctx) // a change that was begun is finished
	g.mu.Lock()
	flag := roster.OfflineNow
	if g.codes[i].away {
		flag = roster.Online
	}
	g.codes[i] = presence{away: !g.codes[i].away, since: time.Now()}
	g.sent++
	g.mu.Unlock()
	if err := g.h.db.Facts().SetPresence(ctx, stormTenant, person(i), flag); err != nil {
		g.h.Errorf("the greedy tenant's fact: %v", err)
		return
	}
	if err := g.h.producer.Publish(ctx, event(g.ref(i))); err != nil {
		g.h.Errorf("the greedy tenant's event: %v", err)
	}
}

func (g *greedy) onCall(call wecomsim.Call) {
	if call.API != updateAPI || call.Corp != corp(stormTenant) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = append(g.calls, call.Received)
}

// perSecond counts the calls of a span, second by second; the last second is
// left out when it is not whole.
func (g *greedy) perSecond(from, to time.Time) []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	counts := make([]int, int(to.Sub(from).Seconds()))
	for _, at := range g.calls {
		if i := int(at.Sub(from).Seconds()); !at.Before(from) && i < len(counts) {
			counts[i]++
		}
	}
	return counts
}

func mean(counts []int) float64 {
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / float64(max(1, len(counts)))
}

// judge looks at one outage.
func (g *greedy) judge(o outage) {
	g.h.Helper()
	allowed := g.form.rate(refreshers)
	before, gone, after := g.perSecond(o.began, o.gone), g.perSecond(o.gone, o.back), g.perSecond(o.back, o.over)
	g.h.Logf("Redis came back %s; calls a second of %.0f allowed\n  before %.1f %v\n  gone   %.1f %v\n  after  %.1f %v",
		o.how, allowed, mean(before), before, mean(gone), gone, mean(after), after)
	if got := mean(gone); got > allowed*1.1 || got < allowed*0.25 {
		g.h.Errorf("%.1f calls a second without Redis; want the instances' shares, which are %.0f together, and a quarter of it at least", got, allowed)
	}
	idle := 0
	for _, n := range gone {
		if idle++; n > 0 {
			idle = 0
		}
		if idle >= 4 {
			g.h.Errorf("no call for %d seconds without Redis: the pushes stopped", idle)
			break
		}
	}
	if got := mean(after); got < allowed/2 {
		g.h.Errorf("%.1f calls a second with Redis back %s; want the shared budget to take over, half of its %.0f at least", got, o.how, allowed)
	}
	// A burst would be seen as one at the sustained rate: those of a window and
	// those that were admitted just before and are a little late.
	first := 0
	for _, n := range after[:int(g.form.minute.Seconds())] {
		first += n
	}
	if most := allowed * (g.form.minute + g.form.delay).Seconds(); float64(first) > most {
		g.h.Errorf("%d calls in the first %v with Redis back %s; at the sustained rate they are %.0f", first, g.form.minute, o.how, most)
	}
}

// judgeRest wants every code that was changed to be as the facts ask, at WeCom
// and in the set. A set that Redis lost with its data comes back with the next
// event of its code: those not changed since then are only counted.
func (g *greedy) judgeRest(lost time.Time) {
	g.h.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	wrong, sets, gone := 0, 0, 0
	for i, now := range g.codes {
		want := []string{person(i), "bob"}
		if now.away {
			want = []string{"bob"}
		}
		if !slices.Equal(g.h.listed(g.ref(i)), want) {
			wrong++
		}
		if i >= rotating {
			continue
		}
		seats, err := g.h.rotation.Seats(g.h.Context(), g.ref(i))
		switch {
		case errors.Is(err, draw.ErrNoSet) && now.since.Before(lost):
			gone++
		case err != nil || !slices.Equal(seats, want):
			sets++
			g.h.Logf("the set of %s is %v (%v); the facts ask for %v", g.ref(i).Code, seats, err, want)
		}
	}
	g.h.Logf("%d changes of %d codes, %d calls; %d of %d rotation sets were lost with Redis's data and not asked for since",
		g.sent, len(g.codes), len(g.calls), gone, rotating)
	if wrong > 0 || sets > 0 {
		g.h.Errorf("%d of %d codes and %d of %d rotation sets differ from their facts", wrong, len(g.codes), sets, rotating)
	}
}
