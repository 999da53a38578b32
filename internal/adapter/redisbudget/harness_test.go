package redisbudget

import (
	"container/heap"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// epoch is where the tests' clocks begin.
var epoch = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// testClock is a clock that moves when it is told to.
type testClock struct {
	mu sync.Mutex
	at time.Time
}

func newTestClock() *testClock { return &testClock{at: epoch} }

func (c *testClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *testClock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = t
}

func (c *testClock) advance(d time.Duration) { c.set(c.now().Add(d)) }

// miniClient is a client of a fresh in-process Redis.
func miniClient(t testing.TB) (*redis.Client, *miniredis.Miniredis) {
	t.Helper()
	server := miniredis.RunT(t)
	return clientOf(t, server.Addr()), server
}

func clientOf(t testing.TB, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// fixed returns o under a test clock, with time-outs that a busy machine does
// not reach, and without output.
func (o Options) fixed(c *testClock) Options {
	o.Clock = c.now
	o.Timeout = or(o.Timeout, 20*time.Second)
	o.Logger = slog.New(slog.DiscardHandler)
	return o
}

func newBudget(t testing.TB, client redis.Scripter, o Options) *Budget {
	t.Helper()
	b, err := New(client, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ask admits or refuses one call of a code.
func ask(t testing.TB, b *Budget, tenant, code string, k kind) push.Admission {
	t.Helper()
	a, err := b.Admit(t.Context(), push.Ask{Ref: push.Ref{Tenant: tenant, Code: code}, Removes: k == removal})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

type kind int

const (
	addition kind = iota
	removal
)

// granted asks for n codes and returns how many may go at once.
func granted(t testing.TB, b *Budget, tenant, prefix string, n int, k kind) int {
	t.Helper()
	count := 0
	for i := range n {
		if ask(t, b, tenant, prefix+string(rune('a'+i%26))+time.Duration(i).String(), k).Granted {
			count++
		}
	}
	return count
}

// world is a discrete-event simulation: codes ask, wait, come back and call.
type world struct {
	t         testing.TB
	clock     *testClock
	rng       *rand.Rand
	instances []*Budget
	opts      Options
	// late is the most by which a held code comes back after its instant.
	late time.Duration

	events  eventHeap
	order   int
	waiting map[push.Ref]*attempt
	calls   map[string][]time.Time // arrivals at the vendor, by tenant
	all     []time.Time
	waits   map[string][]time.Duration // from the first ask to the grant, by tenant
	asks    int                        // of codes that were granted in the end
	beyond  int
}

// attempt is one change of a code on its way.
type attempt struct {
	ref   push.Ref
	kind  kind
	first time.Time
	asks  int
	// instance owns the code's key.
	instance int
}

func newWorld(t testing.TB, client redis.Scripter, opts Options, instances int, seed uint64) *world {
	w := &world{
		t: t, clock: newTestClock(), rng: rand.New(rand.NewPCG(seed, 7)), late: 200 * time.Millisecond,
		waiting: map[push.Ref]*attempt{}, calls: map[string][]time.Time{}, waits: map[string][]time.Duration{},
	}
	opts.Instances = instances
	w.opts = opts.fixed(w.clock).withDefaults()
	for range instances {
		w.instances = append(w.instances, newBudget(t, client, w.opts))
	}
	return w
}

// after schedules f.
func (w *world) after(d time.Duration, f func()) {
	w.order++
	heap.Push(&w.events, event{at: w.clock.now().Add(d), order: w.order, do: f})
}

// run plays all events of the next d.
func (w *world) run(d time.Duration) {
	end := w.clock.now().Add(d)
	for len(w.events) > 0 && !w.events[0].at.After(end) {
		e := heap.Pop(&w.events).(event)
		w.clock.set(e.at)
		e.do()
	}
	w.clock.set(end)
}

// demand lets changes of random codes of a tenant arrive at a rate. A change of
// a code that waits merges into it.
func (w *world) demand(tenant string, codes int, perSecond, removals float64) {
	var next func()
	next = func() {
		k := addition
		if w.rng.Float64() < removals {
			k = removal
		}
		w.change(push.Ref{Tenant: tenant, Code: codeName(w.rng.IntN(codes))}, k)
		w.after(time.Duration(w.rng.ExpFloat64()/perSecond*float64(time.Second)), next)
	}
	w.after(time.Duration(w.rng.Float64()/perSecond*float64(time.Second)), next)
}

func codeName(i int) string { return "code-" + time.Duration(i).String() }

func (w *world) change(ref push.Ref, k kind) {
	if _, ok := w.waiting[ref]; ok {
		return
	}
	a := &attempt{ref: ref, kind: k, first: w.clock.now(), instance: w.rng.IntN(len(w.instances))}
	w.waiting[ref] = a
	w.try(a)
}

func (w *world) try(a *attempt) {
	a.asks++
	now := w.clock.now()
	if w.rng.IntN(20) == 0 { // now and then a code comes back to another instance
		a.instance = w.rng.IntN(len(w.instances))
	}
	b := w.instances[a.instance]
	adm := ask(w.t, b, a.ref.Tenant, a.ref.Code, a.kind)
	switch {
	case adm.Granted:
		delete(w.waiting, a.ref)
		w.asks += a.asks
		w.waits[a.ref.Tenant] = append(w.waits[a.ref.Tenant], now.Sub(a.first))
		w.call(a.ref.Tenant, adm.Expires)
	case adm.Booked:
		w.after(adm.At.Sub(now)+w.upTo(w.late), func() { w.try(a) })
	default:
		w.beyond++
		delete(w.waiting, a.ref)
	}
}

// call goes on the wire at any instant until expires and needs up to WireTime;
// half of the calls use all of it.
func (w *world) call(tenant string, expires time.Time) {
	now := w.clock.now()
	if !expires.After(now) {
		w.t.Fatalf("a grant at %v had expired at %v", now, expires)
	}
	at := now.Add(w.upTo(expires.Sub(now))).Add(w.upTo(w.opts.WireTime))
	if w.rng.IntN(2) == 0 {
		at = expires.Add(w.opts.WireTime)
	}
	w.calls[tenant] = append(w.calls[tenant], at)
	w.all = append(w.all, at)
}

func (w *world) upTo(d time.Duration) time.Duration {
	return time.Duration(w.rng.Int64N(int64(d) + 1))
}

// check fails if any window of any phase holds more calls than it may.
func (w *world) check() {
	w.t.Helper()
	for tenant, calls := range w.calls {
		checkWindows(w.t, "tenant "+tenant, calls, w.opts.TenantWindows)
	}
	checkWindows(w.t, "address", w.all, w.opts.IPWindows)
}

// checkWindows looks at every window that begins with a call: if none of those
// holds too many, no window does, wherever it begins.
func checkWindows(t testing.TB, whose string, calls []time.Time, windows []Window) {
	t.Helper()
	calls = slices.Clone(calls)
	slices.SortFunc(calls, time.Time.Compare)
	for _, win := range windows {
		for i := win.Calls; i < len(calls); i++ {
			if span := calls[i].Sub(calls[i-win.Calls]); span < win.Per {
				t.Fatalf("%s: %d calls within %v, of which %d may be within %v", whose, win.Calls+1, span, win.Calls, win.Per)
			}
		}
	}
}

// fullest returns the share of the window that its fullest, sliding, holds.
func fullest(calls []time.Time, win Window) float64 {
	calls = slices.Clone(calls)
	slices.SortFunc(calls, time.Time.Compare)
	most, first := 0, 0
	for i := range calls {
		for calls[i].Sub(calls[first]) >= win.Per {
			first++
		}
		most = max(most, i-first+1)
	}
	return float64(most) / float64(win.Calls)
}

// between counts the calls in [from, from+d).
func between(calls []time.Time, from time.Time, d time.Duration) int {
	n := 0
	for _, c := range calls {
		if !c.Before(from) && c.Before(from.Add(d)) {
			n++
		}
	}
	return n
}

func quantile(waits []time.Duration, q float64) time.Duration {
	if len(waits) == 0 {
		return 0
	}
	waits = slices.Clone(waits)
	slices.Sort(waits)
	return waits[min(len(waits)-1, int(float64(len(waits))*q))]
}

type event struct {
	at    time.Time
	order int
	do    func()
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at.Before(h[j].at) || h[i].at.Equal(h[j].at) && h[i].order < h[j].order
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}
