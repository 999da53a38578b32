package redisbudget

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Redis fails under constant demand and comes back, with and without its data:
// the calls go on at this instance's share, and no window is exceeded in or
// across the outage.
func TestRedisGoneAndBack(t *testing.T) {
	for _, loss := range []string{"keeps its data", "loses its data"} {
		t.Run(loss, func(t *testing.T) {
			client, server := miniClient(t)
			w := newWorld(t, client, scaled(), 2, 9)
			w.late = 20 * time.Millisecond
			rate, _ := w.instances[0].Rate()
			w.demand("corp", int(rate*w.opts.ParkAfter.Seconds()), 4*rate, 0.1)
			w.run(40 * time.Second)
			server.SetError("LOADING the machine is on fire")
			outage := w.clock.now()
			w.run(40 * time.Second)
			got := float64(between(w.all, outage.Add(5*time.Second), 35*time.Second)) / (35 * rate)
			if got < 0.8 || got > 1.05 {
				t.Errorf("%.2f of the rate while Redis was gone, want nearly all of it", got)
			}
			server.SetError("")
			if loss == "loses its data" {
				server.FlushAll()
			}
			back := w.clock.now()
			w.run(90 * time.Second)
			w.check()
			if got := float64(between(w.all, back.Add(time.Second), 10*time.Second)) / (10 * rate); got < 0.5 || got > 1.2 {
				t.Errorf("%.2f of the rate in the first ten seconds with Redis back, want it to take over as if nothing had been", got)
			}
			if full := fullest(w.all, w.opts.TenantWindows[1]); full < 0.7 {
				t.Errorf("the fullest long window holds %.2f of what it may", full)
			}
		})
	}
}

func TestWithoutRedisATenantIsNeitherStoppedNorUnlimited(t *testing.T) {
	client, server := miniClient(t)
	clock := newTestClock()
	o := tight()
	o.Instances, o.TenantBurst = 4, 20
	o.TenantWindows[0].Calls = 20 + 4 + 2*62 // 2 calls a second
	b := newBudget(t, client, o.fixed(clock))
	server.SetError("gone")
	first, second := ask(t, b, "corp", "x", addition), ask(t, b, "corp", "y", addition)
	if !first.Granted || seconds(first.Expires) != 1.7 {
		t.Errorf("first: %+v, want a grant for 1.7 s", first)
	}
	if !second.Booked || seconds(second.At) != 2 || second.Cause != reason.Throttled {
		t.Errorf("second: %+v, want a slot two seconds on, a quarter of the rate", second)
	}
	if err := b.GiveBack(t.Context(), push.Ref{Tenant: "corp", Code: "y"}); err != nil {
		t.Error(err)
	}
	if got := throttled(t, b, ErrCodeFrequency); got != 60 {
		t.Errorf("blocked until %v, want second 60", got)
	}
	if a := ask(t, b, "corp", "z", addition); a.Granted || a.Cause != reason.Blocked {
		t.Errorf("%+v, want a block", a)
	}
	server.SetError("")
	clock.advance(2 * time.Second)
	if a := ask(t, b, "corp", "z", addition); a.Granted || a.Cause != reason.Blocked || seconds(a.At) != 60 {
		t.Errorf("Redis is back: %+v, want the block to hold there", a)
	}
	clock.set(epoch.Add(55 * time.Second))
	for i := range 3 {
		if a := ask(t, b, "corp", codeName(i), addition); seconds(a.At) != float64(60+i) {
			t.Errorf("slot %d is at second %v, want one after the other from 60", i, seconds(a.At))
		}
	}
}

// A call that an instance of four admitted by itself counts four times once
// Redis is back: the other three cannot be seen.
func TestCallsMadeWithoutRedisAreCharged(t *testing.T) {
	const instances = 4
	atOnce := func(outage func(b *Budget, clock *testClock, server *miniredis.Miniredis)) int {
		client, server := miniClient(t)
		clock := newTestClock()
		o := tight()
		o.Instances, o.TenantBurst, o.ParkAfter = instances, 40, time.Millisecond
		o.TenantWindows[0].Calls = 40 + instances + 62
		b := newBudget(t, client, o.fixed(clock))
		outage(b, clock, server)
		return granted(t, b, "corp", "x", 60, addition)
	}
	without := atOnce(func(*Budget, *testClock, *miniredis.Miniredis) {})
	with := atOnce(func(b *Budget, clock *testClock, server *miniredis.Miniredis) {
		server.SetError("gone")
		if a := ask(t, b, "corp", "local", addition); !a.Granted {
			t.Fatalf("%+v, want a grant", a)
		}
		server.SetError("")
		clock.advance(time.Second) // RetryAfter; half a call accrues in the common bucket
	})
	if with != without-instances && with != without-instances+1 {
		t.Errorf("%d calls at once after one without Redis, %d otherwise; want %d fewer", with, without, instances)
	}
}

func TestAnEndedContextIsTheOnlyError(t *testing.T) {
	client, server := miniClient(t)
	b := newBudget(t, client, tight().fixed(newTestClock()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Admit(ctx, push.Ask{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Admit: %v, want %v", err, context.Canceled)
	}
	if _, err := b.Throttled(ctx, "corp", ErrCodeFrequency); !errors.Is(err, context.Canceled) {
		t.Errorf("Throttled: %v, want %v", err, context.Canceled)
	}
	if err := b.GiveBack(ctx, push.Ref{}); !errors.Is(err, context.Canceled) {
		t.Errorf("GiveBack: %v, want %v", err, context.Canceled)
	}
	server.Close()
	if _, err := b.Admit(t.Context(), push.Ask{}); err != nil {
		t.Errorf("Redis is gone: %v, want no error", err)
	}
}

// One log line a change of state, however many asks; Redis is left alone for
// RetryAfter after a failure.
func TestChangesOfStateAreToldOnce(t *testing.T) {
	client, server := miniClient(t)
	clock := newTestClock()
	reader := sdk.NewManualReader()
	var log bytes.Buffer
	o := tight().fixed(clock)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	o.Meter = sdk.NewMeterProvider(sdk.WithReader(reader)).Meter("test")
	b := newBudget(t, client, o)

	ask(t, b, "corp", "1", addition)
	server.SetError("gone")
	for range 3 {
		clock.advance(2 * time.Second)
		ask(t, b, "corp", "2", addition)
	}
	during := sums(t, reader)
	server.SetError("")
	ask(t, b, "corp", "3", addition)
	if got := sums(t, reader)["rollcall.budget.degraded"]; got != 1 {
		t.Errorf("degraded %d within RetryAfter, want 1", got)
	}
	clock.advance(2 * time.Second)
	ask(t, b, "corp", "4", addition)

	if lines := strings.Count(log.String(), "\n"); lines != 2 {
		t.Errorf("%d log lines, want one each way:\n%s", lines, log.String())
	}
	if diff := cmp.Diff(map[string]int64{"rollcall.budget.admissions": 4, "rollcall.budget.degraded": 1}, during); diff != "" {
		t.Errorf("metrics while Redis is gone (-want +got):\n%s", diff)
	}
	if got := sums(t, reader)["rollcall.budget.degraded"]; got != 0 {
		t.Errorf("degraded %d at the end, want 0", got)
	}
}

// sums adds up each instrument's points.
func sums(t *testing.T, reader sdk.Reader) map[string]int64 {
	t.Helper()
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, scope := range rm.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					got[m.Name] += p.Value
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					got[m.Name] += p.Value
				}
			}
		}
	}
	return got
}

func TestTheFloorIsBounded(t *testing.T) {
	now := epoch
	p := paceOf([]Window{{127, time.Minute}}, 2, 1, 2*time.Second, 0.5)
	f := newFloor(p, paceOf([]Window{{1 << 20, time.Minute}}, 9, 1, 2*time.Second, 0.5), 1, time.Hour, time.Second)
	f.maxTenants, f.maxSlots = 3, 1
	var got []bool
	for _, tenant := range []string{"a", "b", "c", "d", "e"} {
		got = append(got, !f.ask(push.Ref{Tenant: tenant}, now, time.Time{}).at.After(now))
		now = now.Add(time.Millisecond)
	}
	if diff := cmp.Diff([]bool{true, true, true, true, false}, got); diff != "" {
		t.Errorf("d and e share one limiter (-want +got):\n%s", diff)
	}
	now = now.Add(time.Hour)
	f.ask(push.Ref{Tenant: "f"}, now, time.Time{})
	if n := len(f.tenants); n > 3 {
		t.Errorf("%d limiters kept, want 3 at most", n)
	}
	for _, code := range []string{"1", "2", "3", "4"} {
		f.ask(push.Ref{Tenant: "f", Code: code}, now, time.Time{})
	}
	if n := len(f.slots); n != 1 {
		t.Errorf("%d slots kept, want 1", n)
	}
}

// A slot that is given back is the next one's who asks: a charge that nobody
// uses is lost to a tenant whose codes change back and forth.
func TestFloorPassesASlotOn(t *testing.T) {
	start := newTestClock().now()
	f := newFloor(pair{rate: 1, burst: 100}, pair{rate: 1000, burst: 100}, 1, time.Minute, time.Second)
	ref := func(code string) push.Ref { return push.Ref{Tenant: "acme", Code: code} }
	if first := f.ask(ref("a"), start, time.Time{}); !first.at.Equal(start) {
		t.Fatalf("an idle tenant waits: %+v", first)
	}
	second, third := f.ask(ref("b"), start, time.Time{}), f.ask(ref("c"), start, time.Time{})
	f.giveBack(ref("b"))
	if got := f.ask(ref("d"), start, time.Time{}); !got.at.Equal(second.at) || got.charged {
		t.Errorf("got %+v; want the slot at %v, uncharged", got, second.at)
	}
	f.giveBack(ref("c"))
	lapsed := third.at.Add(2 * time.Second)
	if got := f.ask(ref("e"), lapsed, time.Time{}); !got.charged {
		t.Errorf("got %+v; want a charge of its own, the slot at %v is over", got, third.at)
	}
	for i := range 2 * maxFreed {
		code := strconv.Itoa(i)
		f.slots[ref(code)] = lapsed.Add(time.Minute)
		f.giveBack(ref(code))
	}
	if n := len(f.freed["acme"]); n != maxFreed {
		t.Errorf("%d slots wait for somebody; want at most %d", n, maxFreed)
	}
}
