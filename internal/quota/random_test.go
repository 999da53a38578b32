package quota_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/quota/quotatest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var schedules = flag.Int("schedules", 25, "random schedules of TestCountsExactlyOnce")

// TestCountsExactlyOnce runs several hosts on one store. Each counts what WeCom
// sends it, and dies again and again, ahead of or behind the effect of any call;
// WeCom delivers out of order, twice, and up to three times when it was not
// answered; the keeper recovers and forgets all the while. In the end every
// counter is exact.
func TestCountsExactlyOnce(t *testing.T) {
	for seed := range *schedules {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newTown(uint64(seed)).live(t) })
		})
	}
}

const (
	hosts     = 4
	lifetime  = 50 // steps of a process, about
	rush      = 5 * time.Minute
	perStaff  = 4 // the company's ceiling
	perDay    = 2 // of one member on a code
	perMember = 3
)

// town is a random schedule.
type town struct {
	random *dice
	store  *quotatest.Store
	out    *outbox
	seen   *counting
	hosts  [hosts]*host
	events []quota.Event
	model  model
}

func newTown(seed uint64) *town {
	w := &town{random: newDice(seed), store: quotatest.NewStore(time.Now)}
	w.out = newOutbox(w.store)
	w.seen = &counting{Counters: w.store, marks: map[string]mark{}}
	w.store.StaffFirst = func() bool { return w.random.oneIn(2) }
	w.store.Before, w.store.After = w.dawdle, w.dawdle
	w.out.Before, w.out.After = w.dawdle, w.dawdle
	w.settle()
	return w
}

// dawdle takes some time over a call now and then, so that others come between.
func (w *town) dawdle(context.Context, string) error {
	if w.random.oneIn(3) {
		<-time.After(time.Duration(w.random.n(40)) * time.Millisecond)
	}
	return nil
}

// settle makes two tenants, their members and codes, and all that happens.
func (w *town) settle() {
	w.model = newModel()
	for _, tenant := range []string{"acme", "globex"} {
		w.store.PutTenant(roster.Tenant{ID: tenant, TimeZone: "UTC", DailyTotal: perStaff})
		var members []roster.Member
		for _, staff := range []string{"li.na", "wang"} {
			w.store.PutStaff(tenant, roster.Staff{ID: staff})
			members = append(members, roster.Member{Staff: staff, AddLimit: perMember, DailyLimit: perDay})
		}
		for i := range 3 {
			w.store.PutCode(roster.Code{
				ID: fmt.Sprintf("%s-%d", tenant, i), Tenant: tenant, State: fmt.Sprint("state-", i), Members: members,
				Switches: roster.Switches{AddLimit: true, DailyLimit: i > 0},
			})
		}
		for customer := range 10 {
			staff := members[w.random.n(len(members))].Staff
			w.meet(quota.Pair{Tenant: tenant, Staff: staff, Customer: fmt.Sprint("wm-", customer)})
		}
	}
}

// meet has a customer and a member meet up to three times, on one day and
// through one code: in which order the events come changes nothing then.
func (w *town) meet(pair quota.Pair) {
	day, state := w.random.n(2), w.random.n(3)
	at := time.Date(2026, 11, 29+day, 8, 0, 0, 0, time.UTC)
	happens := func(change quota.Change, state string) {
		at = at.Add(time.Duration(1+w.random.n(90)) * time.Second)
		w.events = append(w.events, quota.Event{Pair: pair, Change: change, State: state, At: at})
	}
	for meeting := range 1 + w.random.n(3) {
		if meeting > 0 {
			happens([]quota.Change{quota.Deleted, quota.Unfollowed}[w.random.n(2)], "")
		}
		kind := w.random.n(3)
		if kind != 0 {
			happens(quota.HalfAdded, fmt.Sprint("state-", state))
		}
		if kind != 1 {
			happens(quota.Added, fmt.Sprint("state-", state))
		}
		w.model.count(pair, fmt.Sprintf("%s-%d", pair.Tenant, state), roster.DayOf(at, time.UTC))
	}
}

func (w *town) live(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	for i := range w.hosts {
		w.hosts[i] = w.newHost(ctx)
	}
	var wecom, keepers sync.WaitGroup
	burst := map[quota.Pair]time.Duration{} // in which all comes at once
	for _, event := range w.events {
		if burst[event.Pair] == 0 || w.random.oneIn(4) {
			burst[event.Pair] = time.Duration(w.random.n(int(rush)))
		}
		for range 1 + w.random.n(2) { // some are delivered twice
			after := burst[event.Pair]
			wecom.Go(func() { w.deliver(ctx, t, event, after) })
		}
	}
	for _, host := range w.hosts {
		keepers.Go(func() { w.keep(ctx, host) })
	}
	wecom.Wait()
	stop()
	keepers.Wait()
	died := 0
	for _, host := range w.hosts {
		died += host.deaths()
	}
	if died == 0 {
		t.Error("no process died")
	}
	w.tidy(t)
	w.model.check(t, w)
	w.forget(t)
	w.model.check(t, w)
}

// deliver is one delivery by WeCom: up to three attempts at different hosts.
// After an attempt of which the store has the event it may give up.
func (w *town) deliver(ctx context.Context, t *testing.T, event quota.Event, after time.Duration) {
	<-time.After(after)
	for attempt := 1; ; attempt++ {
		host := w.hosts[w.random.n(hosts)]
		ctx := ctx
		if attempt < 3 {
			ctx = host.process() // the third finds a host that lives
		}
		_, err := host.Take(ctx, event)
		if err == nil {
			return
		}
		if attempt == 3 {
			t.Errorf("the last attempt: %v", err)
			return
		}
		if w.noted(event) && w.random.oneIn(2) {
			return
		}
		<-time.After(5 * time.Second)
	}
}

func (w *town) noted(event quota.Event) bool {
	for _, e := range w.store.Contacts()[event.Pair].Entries {
		if e.At.Equal(event.At) && e.Change == event.Change {
			return true
		}
	}
	return false
}

// keep recovers and forgets on one host.
func (w *town) keep(ctx context.Context, host *host) {
	tick := time.NewTicker(20 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_, _ = host.Recover(host.process()) // it dies in the middle
			_, _ = host.Forget(host.process())
		case <-ctx.Done():
			return
		}
	}
}

// tidy recovers what the last process has left behind.
func (w *town) tidy(t *testing.T) {
	<-time.After(2 * overdue)
	if _, err := w.hosts[0].Recover(t.Context()); err != nil {
		t.Errorf("Recover: %v", err)
	}
	if open, err := w.store.Open(t.Context(), time.Now(), 1000); len(open) > 0 || err != nil {
		t.Errorf("open after recovery: %v, %v", open, err)
	}
}

func (w *town) forget(t *testing.T) {
	<-time.After(2 * forgetAfter)
	if _, err := w.hosts[0].Forget(t.Context()); err != nil {
		t.Errorf("Forget: %v", err)
	}
	wantTraceless(t, w.store)
}

// host is a machine on which a process is started whenever one has died.
type host struct {
	*quota.Counter
	within context.Context
	random *dice

	mu    sync.Mutex
	alive *fanouttest.Process
	ctx   context.Context
	dead  int
}

func (w *town) newHost(ctx context.Context) *host {
	h := &host{Counter: newCounter(w.store, w.out, time.Now), within: ctx, random: w.random}
	h.Counters = w.seen
	return h
}

// process is the context of the process that lives.
func (h *host) process() context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.alive == nil || h.alive.CutOff() != "" {
		if h.alive != nil {
			h.dead++
		}
		h.alive, h.ctx = fanouttest.NewProcess(h.within, func(int) bool { return h.random.oneIn(lifetime) })
	}
	return h.ctx
}

func (h *host) deaths() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dead
}

// dice are random numbers for many goroutines.
type dice struct {
	mu     sync.Mutex
	random *rand.Rand
}

func newDice(seed uint64) *dice { return &dice{random: rand.New(rand.NewPCG(seed, 1))} }

// n is a random number from 0 to below below.
func (d *dice) n(below int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random.IntN(below)
}

func (d *dice) oneIn(n int) bool { return d.n(n) == 0 }
