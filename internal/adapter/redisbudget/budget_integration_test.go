//go:build integration

package redisbudget

import (
	"crypto/rand"
	"flag"
	"fmt"
	mrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// realClient is a client of the stack's Redis, and a prefix nobody else uses.
func realClient(t testing.TB) (*redis.Client, string) {
	t.Helper()
	o, err := redis.ParseURL(stacktest.RedisURL(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	return client, "test-" + rand.Text() + ":"
}

var allHours = flag.Bool("all-hours", false, "the hour without removals as well")

// WeCom's own limits over more than an hour of virtual time, at five times the
// rate.
func TestAnHourAtTheVendorsLimits(t *testing.T) {
	t.Parallel()
	shares := []float64{0.1}
	if *allHours {
		shares = append(shares, 0)
	}
	for _, removals := range shares {
		t.Run(fmt.Sprintf("removals %v", removals), func(t *testing.T) {
			t.Parallel()
			client, prefix := realClient(t)
			w := newWorld(t, client, Options{Prefix: prefix}, 3, 11)
			rate, _ := w.instances[0].Rate()
			w.demand("corp", 4700, 5*rate, removals)
			w.run(64 * time.Minute)
			w.check()
			hour := w.opts.TenantWindows[1]
			used := float64(between(w.all, epoch.Add(3*time.Minute), hour.Per)) / float64(hour.Calls)
			t.Logf("%d calls, %.4f of a steady hour, fullest hour %.4f, fullest minute %.4f, %.3f asks a call, rate %.2f/s",
				len(w.all), used, fullest(w.all, hour), fullest(w.all, w.opts.TenantWindows[0]),
				float64(w.asks)/float64(len(w.all)), rate)
			if used < 0.94 {
				t.Errorf("used %.4f of the hour, want 0.94 or more", used)
			}
		})
	}
}

func TestFourStormsAmongTwoThousandCalmTenants(t *testing.T) {
	t.Parallel()
	client, prefix := realClient(t)
	w := newWorld(t, client, Options{Prefix: prefix}, 3, 12)
	// The address serves less than the four alone may ask for.
	w.opts.IPWindows = []Window{{14_000, time.Minute}}
	w.instances = nil
	for range 3 {
		w.instances = append(w.instances, newBudget(t, client, w.opts))
	}
	rate, address := w.instances[0].Rate()
	for i := range 4 {
		w.demand(fmt.Sprintf("storm-%d", i), 4700, 3*rate, 0.1)
	}
	for i := range 2000 {
		w.demand(fmt.Sprintf("calm-%d", i), 10, 0.05*address/2000, 0.1)
	}
	w.run(12 * time.Minute)
	w.check()
	var waits []time.Duration
	for i := range 2000 {
		waits = append(waits, w.waits[fmt.Sprintf("calm-%d", i)]...)
	}
	used := float64(between(w.all, epoch.Add(6*time.Minute), 5*time.Minute)) / (address * 300)
	t.Logf("address %.1f/s; calm: %d calls, p50 %v, p99 %v; storm p50 %v p99 %v; used %.4f of the address's rate; %.2f asks a call",
		address, len(waits), quantile(waits, .5), quantile(waits, .99),
		quantile(w.waits["storm-0"], .5), quantile(w.waits["storm-0"], .99), used, float64(w.asks)/float64(len(w.all)))
	for i := range 4 {
		t.Logf("storm-%d: %d calls", i, len(w.calls[fmt.Sprintf("storm-%d", i)]))
	}
	if p99 := quantile(waits, .99); p99 > 2*time.Second {
		t.Errorf("calm tenants wait %v (p99), want 2 s at most", p99)
	}
	if used < 0.97 {
		t.Errorf("used %.4f of the address's rate under overload, want 0.97 or more", used)
	}
}

// The same asks at the same instants get the same answers from the in-process
// Redis of the unit tests and from the real one.
func TestScriptsAgreeWithTheUnitTestsRedis(t *testing.T) {
	server, prefix := realClient(t)
	mini, _ := miniClient(t)
	clock := newTestClock()
	o := scaled()
	o.Prefix = prefix
	a, b := newBudget(t, server, o.fixed(clock)), newBudget(t, mini, o.fixed(clock))
	rng := mrand.New(mrand.NewPCG(5, 5))
	for step := range 600 {
		ref := push.Ref{Tenant: "corp", Code: codeName(rng.IntN(40))}
		switch rng.IntN(12) {
		case 0:
			if err := a.GiveBack(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
			if err := b.GiveBack(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
		case 4:
			if x, y := spare(t, a, ref.Tenant), spare(t, b, ref.Tenant); x != y {
				t.Fatalf("step %d: the real Redis has something to spare: %v; the unit tests': %v", step, x, y)
			}
		case 1, 2:
			clock.advance(time.Duration(rng.IntN(1_000_000)) * time.Microsecond)
		case 3:
			if rng.IntN(20) == 0 {
				x, err1 := a.Throttled(t.Context(), "corp", ErrCodeFrequency)
				y, err2 := b.Throttled(t.Context(), "corp", ErrCodeFrequency)
				if err1 != nil || err2 != nil || !x.Equal(y) {
					t.Fatalf("step %d: blocked until %v (%v) and %v (%v)", step, x, err1, y, err2)
				}
			}
		default:
			k := kind(rng.IntN(2))
			x, y := ask(t, a, ref.Tenant, ref.Code, k), ask(t, b, ref.Tenant, ref.Code, k)
			if diff := cmp.Diff(y, x); diff != "" {
				t.Fatalf("step %d: the real Redis answers otherwise (-unit +real):\n%s", step, diff)
			}
		}
	}
}

// Three instances in real time, with Redis's own clock and calls that come as
// late as they may.
func TestThreeInstancesInRealTime(t *testing.T) {
	client, prefix := realClient(t)
	o := Options{
		Prefix: prefix, Instances: 3,
		TenantWindows: []Window{{300, 2 * time.Second}, {1500, 20 * time.Second}}, TenantBurst: 130,
		IPWindows: []Window{{300, 2 * time.Second}, {1500, 20 * time.Second}}, IPBurst: 130,
		Delay: 500 * time.Millisecond, WireTime: 50 * time.Millisecond, MinUse: 100 * time.Millisecond,
		ParkAfter: 2 * time.Second, Timeout: 5 * time.Second,
	}
	var (
		mu    sync.Mutex
		calls []time.Time
		wg    sync.WaitGroup
	)
	end := time.Now().Add(24 * time.Second)
	for instance := range 3 {
		b := newBudget(t, client, o)
		for worker := range 8 {
			rng := mrand.New(mrand.NewPCG(uint64(instance), uint64(worker)))
			wg.Go(func() {
				for n := 0; time.Now().Before(end); n++ {
					ref := push.Ref{Tenant: "corp", Code: fmt.Sprintf("%d-%d-%d", instance, worker, n)}
					if at, ok := callInTime(t, b, ref, rng, end); ok {
						mu.Lock()
						calls = append(calls, at)
						mu.Unlock()
					}
				}
			})
		}
	}
	wg.Wait()
	checkWindows(t, "corp", calls, o.TenantWindows)
	t.Logf("%d calls, fullest 2 s %.3f, fullest 20 s %.3f", len(calls),
		fullest(calls, o.TenantWindows[0]), fullest(calls, o.TenantWindows[1]))
	if f := fullest(calls, o.TenantWindows[1]); f < 0.85 {
		t.Errorf("the fullest 20 s hold %.3f of what they may, want 0.85 or more", f)
	}
}

// callInTime asks until ref may go, and returns when its call went.
func callInTime(t testing.TB, b *Budget, ref push.Ref, rng *mrand.Rand, end time.Time) (time.Time, bool) {
	for time.Now().Before(end) {
		a := ask(t, b, ref.Tenant, ref.Code, addition)
		if a.Granted {
			wait(time.Duration(rng.Int64N(max(1, int64(time.Until(a.Expires))*9/10))))
			if at := time.Now(); !at.After(a.Expires) {
				return at, true
			}
			continue // too late: to be admitted anew
		}
		wait(time.Until(a.At))
	}
	return time.Time{}, false
}

func wait(d time.Duration) { <-time.After(d) }

func BenchmarkAdmit(b *testing.B) {
	client, prefix := realClient(b)
	o := Options{
		Prefix: prefix, TenantWindows: []Window{{1 << 30, time.Second}}, TenantBurst: 1 << 29,
		IPWindows: []Window{{1 << 30, time.Second}}, IPBurst: 1 << 29,
	}
	budget := newBudget(b, client, o)
	var n atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			i := n.Add(1)
			if a := ask(b, budget, codeName(int(i%64)), codeName(int(i)), addition); !a.Granted {
				b.Errorf("refused: %+v", a)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "admits/s")
}

// An idle tenant's burst goes without a wait at the vendor's limits, and a
// removal goes at once when additions have used up all that they may.
func TestABurstOfSevenThousand(t *testing.T) {
	client, prefix := realClient(t)
	clock := newTestClock()
	b := newBudget(t, client, Options{Prefix: prefix}.fixed(clock))
	if got := granted(t, b, "corp", "burst", 7000, addition); got != 7000 {
		t.Errorf("%d of 7000 calls went at once", got)
	}
	for granted(t, b, "corp", "more", 1000, addition) > 0 {
		clock.advance(time.Millisecond)
	}
	if got := granted(t, b, "corp", "removal", 100, removal); got != 100 {
		t.Errorf("%d of 100 removals went at once behind the additions", got)
	}
}
