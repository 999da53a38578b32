package redisbudget

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// scaled are limits of the shape of WeCom's with few calls: a long window of
// which the burst is a twentieth, and a short one that the burst nearly fills.
func scaled() Options {
	return Options{
		TenantWindows: []Window{{30, 6 * time.Second}, {300, 2 * time.Minute}}, TenantBurst: 14,
		IPWindows: []Window{{2000, 6 * time.Second}, {60_000, 6 * time.Minute}}, IPBurst: 1000,
		Delay: 200 * time.Millisecond, WireTime: 30 * time.Millisecond, MinUse: 20 * time.Millisecond,
		ParkAfter: 12 * time.Second,
	}
}

// Demand of five times the rate from three instances, with calls that use all
// of the delay they are granted: nothing is exceeded, nothing is left unused,
// and a change that has to wait is delivered once more, not more often.
func TestConstantDemandUsesTheRateAndNeverExceedsAWindow(t *testing.T) {
	for _, removals := range []float64{0, 0.3} {
		t.Run(fmt.Sprintf("removals %v", removals), func(t *testing.T) {
			t.Parallel()
			client, _ := miniClient(t)
			w := newWorld(t, client, scaled(), 3, 1)
			w.late = 20 * time.Millisecond
			rate, _ := w.instances[0].Rate()
			w.demand("corp", int(rate*w.opts.ParkAfter.Seconds()), 5*rate, removals)
			w.run(4 * time.Minute)
			w.check()
			long := w.opts.TenantWindows[1]
			steady := float64(between(w.calls["corp"], epoch.Add(90*time.Second), long.Per)) / (rate * long.Per.Seconds())
			perCall := float64(w.asks) / float64(len(w.all))
			t.Logf("%d calls, steady %.4f of the rate, fullest window %.4f of the limit, %.2f asks a call",
				len(w.all), steady, fullest(w.all, long), perCall)
			if steady < 0.99 {
				t.Errorf("used %.4f of the rate, want 0.99 or more", steady)
			}
			if perCall > 2.1 {
				t.Errorf("%.2f asks a call, want a refusal and an admission", perCall)
			}
		})
	}
}

func TestBurstOfAnIdleTenantGoesAtOnce(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	o := scaled()
	b := newBudget(t, client, o.fixed(clock))
	if got := granted(t, b, "corp", "first", o.TenantBurst, addition); got < o.TenantBurst-1 {
		t.Fatalf("%d of an idle tenant's %d calls went at once", got, o.TenantBurst)
	}
	if a := ask(t, b, "corp", "one more", addition); a.Granted {
		t.Fatal("a call beyond the burst went at once")
	}
	clock.advance(time.Minute)
	if got := granted(t, b, "corp", "again", o.TenantBurst, addition); got < o.TenantBurst-1 {
		t.Fatalf("%d of %d calls went at once after a minute without any", got, o.TenantBurst)
	}
}

func TestRemovalGoesFirst(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	b := newBudget(t, client, Options{
		TenantWindows: []Window{{1000, time.Minute}}, TenantBurst: 100, RemovalShare: 0.1,
	}.fixed(clock))
	for granted(t, b, "corp", clock.now().String(), 10, addition) > 0 {
	}
	a := ask(t, b, "corp", "wants rid of somebody", removal)
	if !a.Granted {
		t.Fatalf("a removal waits until %v behind additions, want it to go at once", a.At.Sub(epoch))
	}
	late := ask(t, b, "corp", "changes its mind", addition)
	if late.Granted || !late.Booked {
		t.Fatalf("an addition got %+v, want a slot", late)
	}
	if a := ask(t, b, "corp", "changes its mind", removal); !a.Granted {
		t.Fatalf("the code now removes somebody and still waits until %v", a.At.Sub(epoch))
	}
	next := ask(t, b, "corp", "the next addition", addition)
	if !next.At.Equal(late.At) {
		t.Errorf("the slot that was left, %v, was not handed on: %v", late.At.Sub(epoch), next.At.Sub(epoch))
	}
}

// Four tenants storm an address that can serve one and a half of them. Those
// who call now and then do not notice.
func TestStormingTenantsDoNotStarveCalmOnes(t *testing.T) {
	client, _ := miniClient(t)
	w := newWorld(t, client, Options{
		TenantWindows: []Window{{170, time.Minute}}, TenantBurst: 30,
		IPWindows: []Window{{250, time.Minute}}, IPBurst: 50, IPReserveShare: 0.3,
		ParkAfter: time.Minute,
	}, 2, 3)
	const calm, length = 40, 100 * time.Second
	rate, address := w.instances[0].Rate()
	for i := range 4 {
		w.demand(fmt.Sprintf("storm-%d", i), int(rate*w.opts.ParkAfter.Seconds()), 3*rate, 0)
	}
	for i := range calm {
		w.demand(fmt.Sprintf("calm-%d", i), 3, 0.05*address/calm, 0)
	}
	w.run(length)
	w.check()

	var waits []time.Duration
	for i := range calm {
		waits = append(waits, w.waits[fmt.Sprintf("calm-%d", i)]...)
	}
	used := float64(between(w.all, epoch.Add(length-time.Minute), time.Minute)) / (address * 60)
	t.Logf("calm: %d calls, p50 %v, p99 %v; storm p50 %v; address used %.3f of its rate; %.2f asks a call",
		len(waits), quantile(waits, 0.5), quantile(waits, 0.99), quantile(w.waits["storm-0"], 0.5), used,
		float64(w.asks)/float64(len(w.all)))
	if p90 := quantile(waits, 0.9); p90 > 2*time.Second {
		t.Errorf("a calm tenant waits %v (p90) for an address that others storm, want 2 s at most", p90)
	}
	if used < 0.95 {
		t.Errorf("the address was used %.3f of its rate under overload, want 0.95 or more", used)
	}
	for i := range 4 {
		name := fmt.Sprintf("storm-%d", i)
		if n := len(w.calls[name]); float64(n) < address*length.Seconds()/4*0.7 {
			t.Errorf("%s got %d calls, want about a quarter of %v", name, n, address*length.Seconds())
		}
	}
}

// Whatever is asked, spared, given back, abandoned and blocked, in whatever order: no
// window is exceeded.
func TestNoScheduleExceedsAWindow(t *testing.T) {
	client, server := miniClient(t)
	rapid.Check(t, func(rt *rapid.T) {
		server.FlushAll()
		o := Options{
			TenantWindows: []Window{{12, 2 * time.Second}, {30, 10 * time.Second}}, TenantBurst: 8, RemovalShare: 0.2,
			IPWindows: []Window{{16, 2 * time.Second}, {45, 10 * time.Second}}, IPBurst: 10,
			Delay: 500 * time.Millisecond, WireTime: 50 * time.Millisecond, MinUse: 50 * time.Millisecond,
			ParkAfter: 5 * time.Second, BlockFirst: time.Second, BlockAgain: 3 * time.Second,
		}
		w := newWorld(t, client, o, 2, rapid.Uint64().Draw(rt, "seed"))
		tenants := []string{"a", "b"}
		for range rapid.IntRange(20, 60).Draw(rt, "steps") {
			ref := push.Ref{
				Tenant: rapid.SampledFrom(tenants).Draw(rt, "tenant"),
				Code:   rapid.StringMatching(`[a-h]`).Draw(rt, "code"),
			}
			b := w.instances[rapid.IntRange(0, 1).Draw(rt, "instance")]
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0, 1:
				if err := b.GiveBack(t.Context(), ref); err != nil {
					rt.Fatal(err)
				}
			case 2, 3:
				w.clock.advance(time.Duration(rapid.IntRange(1, 1500).Draw(rt, "ms")) * time.Millisecond)
			case 5:
				if spare(t, b, ref.Tenant) {
					w.spareCall()
				}
			case 4:
				if rapid.IntRange(0, 9).Draw(rt, "throttled") == 0 {
					if _, err := b.Throttled(t.Context(), ref.Tenant, ErrCodeFrequency); err != nil {
						rt.Fatal(err)
					}
				}
			default:
				a := ask(t, b, ref.Tenant, ref.Code, kind(rapid.IntRange(0, 1).Draw(rt, "kind")))
				if a.Granted {
					w.call(ref.Tenant, a.Expires)
				}
			}
		}
		w.check()
	})
}
