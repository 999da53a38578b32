package redisbudget

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// spare asks for a call that nobody waits for.
func spare(t testing.TB, b *Budget, tenant string) bool {
	t.Helper()
	ok, err := b.Spare(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// small are limits with a burst of 20 calls and a call a second for a tenant, and
// 40 calls and two a second for the address. Nobody is paced at SpareShare.
func small() Options {
	return Options{
		TenantWindows: []Window{{21 + 62, time.Minute}}, TenantBurst: 20, RemovalShare: 0.1,
		IPWindows: []Window{{41 + 2*62, time.Minute}}, IPBurst: 40, IPReserveShare: 0.1,
		SpareShare: 0.5,
	}
}

func TestSpareIsWhatAnIdleBudgetHas(t *testing.T) {
	for name, test := range map[string]struct {
		before func(t *testing.T, b *Budget)
		want   bool
	}{
		"nobody calls":           {func(*testing.T, *Budget) {}, true},
		"less than half is used": {func(t *testing.T, b *Budget) { granted(t, b, "corp", "x", 9, addition) }, true},
		"more than half is used": {func(t *testing.T, b *Budget) { granted(t, b, "corp", "x", 10, addition) }, false},
		"it is used by removals": {func(t *testing.T, b *Budget) { granted(t, b, "corp", "x", 10, removal) }, false},
		"others use the address less than half": {func(t *testing.T, b *Budget) {
			granted(t, b, "a", "x", 9, addition)
			granted(t, b, "b", "x", 9, addition)
		}, true},
		"others use the address more than half": {func(t *testing.T, b *Budget) {
			granted(t, b, "a", "x", 18, addition)
			granted(t, b, "b", "x", 18, addition)
		}, false},
		"WeCom has blocked the tenant": {func(t *testing.T, b *Budget) { throttled(t, b, ErrCodeFrequency) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := miniClient(t)
			clock := newTestClock()
			b := newBudget(t, client, small().fixed(clock))
			test.before(t, b)
			if got := spare(t, b, "corp"); got != test.want {
				t.Errorf("Spare = %v, want %v", got, test.want)
			}
		})
	}
}

func TestSpareCallsHaveAPaceOfTheirOwn(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	o := Options{SpareShare: 0.1} // WeCom's limits: 3.95 a second for a tenant, 16.1 for the address
	a, b := newBudget(t, client, o.fixed(clock)), newBudget(t, client, o.fixed(clock))
	tenants := func(n int) map[string]int {
		calls := map[string]int{}
		for range 200 { // 20 s
			for i := range n {
				name := fmt.Sprintf("corp-%d", i)
				for _, instance := range []*Budget{a, b} {
					if spare(t, instance, name) {
						calls[name]++
					}
				}
			}
			clock.advance(100 * time.Millisecond)
		}
		return calls
	}
	if n := tenants(1)["corp-0"]; n < 110 || n > 122 {
		t.Errorf("a tenant alone made %d calls in 20 s, want a tenth of its rate, 79, and ten seconds' worth", n)
	}
	clock.advance(time.Minute)
	all := 0
	for _, n := range tenants(20) {
		all += n
	}
	if all < 470 || all > 495 {
		t.Errorf("twenty tenants made %d calls in 20 s, want a tenth of the address's rate, 322, and ten seconds' worth", all)
	}
}

// It is another API's call: the tenant's own budget keeps every call, the address
// pays.
func TestSpareCallsAreTheAddresss(t *testing.T) {
	left := func(spares int, tenants ...string) int {
		client, _ := miniClient(t)
		clock := newTestClock()
		o := small()
		o.IPWindows[0].Calls = 41 + 40*62 // the pace lets the calls through
		o.TenantWindows[0].Calls = 21 + 20*62
		b := newBudget(t, client, o.fixed(clock))
		for range spares {
			if !spare(t, b, "corp") {
				t.Fatal("an idle budget has nothing to spare")
			}
		}
		n := 0
		for _, tenant := range tenants {
			n += granted(t, b, tenant, "x", 20, addition)
		}
		return n
	}
	if with, without := left(8, "corp"), left(0, "corp"); with != without {
		t.Errorf("the tenant has %d calls left after eight spare ones, and %d without", with, without)
	}
	if with, without := left(8, "a", "b", "c"), left(0, "a", "b", "c"); with != without-8 {
		t.Errorf("the address has %d calls left after eight spare ones, and %d without", with, without)
	}
}

// Nobody can be asked: there is no share of one's own for what nobody waits for.
func TestWithoutRedisNothingIsSpare(t *testing.T) {
	client, server := miniClient(t)
	clock := newTestClock()
	b := newBudget(t, client, small().fixed(clock))
	server.SetError("gone")
	if spare(t, b, "corp") {
		t.Error("Redis fails, and a call is spare")
	}
	server.SetError("")
	if spare(t, b, "corp") {
		t.Error("asked again within RetryAfter")
	}
	clock.advance(time.Second)
	if !spare(t, b, "corp") {
		t.Error("Redis is back, and nothing is spare")
	}
	server.Close()
	if spare(t, b, "corp") {
		t.Error("Redis is gone, and a call is spare")
	}
}

// What this instance admitted without Redis counts.
func TestSpareCountsCallsMadeWithoutRedis(t *testing.T) {
	client, server := miniClient(t)
	clock := newTestClock()
	o := small()
	o.Instances = 12
	o.TenantWindows[0].Calls, o.IPWindows[0].Calls = 20+12+62, 40+12+2*62
	b := newBudget(t, client, o.fixed(clock))
	server.SetError("gone")
	ask(t, b, "corp", "local", addition) // counts twelve times
	server.SetError("")
	clock.advance(time.Second)
	if spare(t, b, "corp") {
		t.Error("more than half may be used by instances that cannot be seen, and a call is spare")
	}
}

// So does a block that only this instance knows of yet.
func TestSpareKnowsABlockFromWithoutRedis(t *testing.T) {
	client, server := miniClient(t)
	clock := newTestClock()
	b := newBudget(t, client, small().fixed(clock))
	server.SetError("gone")
	throttled(t, b, ErrCodeFrequency)
	server.SetError("")
	clock.advance(time.Second)
	if spare(t, b, "corp") {
		t.Error("WeCom has blocked the tenant, and a call is spare")
	}
}

// Half of a bucket of one call is none.
func TestHalfACallIsNotSpare(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	b := newBudget(t, client, Options{
		TenantWindows: small().TenantWindows, TenantBurst: 20,
		IPWindows: []Window{{3 + 2*62, time.Minute}}, IPBurst: 2, IPReserveShare: 0.5, SpareShare: 0.5,
	}.fixed(clock))
	if !ask(t, b, "corp", "x", addition).Granted {
		t.Fatal("the first call waits")
	}
	clock.advance(600 * time.Millisecond)
	if spare(t, b, "other") {
		t.Error("a call is spare before there is one")
	}
	clock.advance(2400 * time.Millisecond) // the tenant's turn was lost
	if !spare(t, b, "other") {
		t.Error("the address is idle, and nothing is spare")
	}
}

func TestSpareOfAnEndedContextIsAnError(t *testing.T) {
	client, _ := miniClient(t)
	b := newBudget(t, client, small().fixed(newTestClock()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ok, err := b.Spare(ctx, "corp"); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("Spare = %v, %v", ok, err)
	}
}

// spareCall is a call of another API, which the address's limits count as ours:
// as late as it may be.
func (w *world) spareCall() {
	at := w.clock.now().Add(w.upTo(w.opts.Delay))
	if w.rng.IntN(2) == 0 {
		at = w.clock.now().Add(w.opts.Delay)
	}
	w.all = append(w.all, at)
}

// spares asks for spare calls of some tenants, as often as there are any.
func (w *world) spares(tenants int, every time.Duration) (made *int) {
	made = new(int)
	turn := 0
	var next func()
	next = func() {
		turn++
		if spare(w.t, w.instances[turn%len(w.instances)], fmt.Sprintf("calm-%d", turn%tenants)) {
			*made++
			w.spareCall()
		}
		w.after(every, next)
	}
	w.after(every, next)
	return made
}

// Live calls hardly notice: a busy address gives nothing away, and one that is
// idle has half of its burst left for whoever comes.
func TestSpareCallsHardlyDelayLiveOnes(t *testing.T) {
	for name, load := range map[string]float64{"calm": 0.3, "busy": 0.85, "overload": 1.5} {
		t.Run(name, func(t *testing.T) {
			waits := func(withSpares bool) (mean, p99 time.Duration, made int) {
				client, _ := miniClient(t)
				w := newWorld(t, client, Options{
					TenantWindows: []Window{{170, time.Minute}}, TenantBurst: 30,
					IPWindows: []Window{{650, time.Minute}}, IPBurst: 50,
					ParkAfter: time.Minute,
				}, 2, 5)
				_, address := w.instances[0].Rate()
				const tenants = 8
				for i := range tenants {
					w.demand(fmt.Sprintf("calm-%d", i), 100, load*address/tenants, 0.1)
				}
				spares := new(int)
				if withSpares {
					spares = w.spares(tenants, 20*time.Millisecond)
				}
				w.run(2 * time.Minute)
				w.check()
				var all []time.Duration
				var sum time.Duration
				for _, of := range w.waits {
					for _, wait := range of {
						all, sum = append(all, wait), sum+wait
					}
				}
				return sum / time.Duration(len(all)), quantile(all, 0.99), *spares
			}
			mean0, p0, _ := waits(false)
			mean1, p1, made := waits(true)
			t.Logf("live calls wait %v (mean), %v (p99) beside %d spare calls; %v, %v without", mean1, p1, made, mean0, p0)
			if mean1 > mean0+mean0/10+20*time.Millisecond || p1 > p0+p0/10+100*time.Millisecond {
				t.Error("live calls wait for calls that nobody waits for")
			}
		})
	}
}

// However long spare calls went on, a burst finds half of the address's.
func TestABurstFindsHalfOfTheAddress(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	o := small()
	o.IPWindows[0].Calls = 41 + 200*62
	o.TenantWindows[0].Calls = 21 + 100*62
	b := newBudget(t, client, o.fixed(clock))
	for i := range 1000 {
		spare(t, b, fmt.Sprintf("corp-%d", i))
	}
	if n := granted(t, b, "storm", "x", 20, addition) + granted(t, b, "storm-2", "x", 20, addition); n < 18 {
		t.Errorf("a burst found %d calls of 40", n)
	}
}
