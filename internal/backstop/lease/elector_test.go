package lease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop/lease"
	"github.com/rollcall-dev/rollcall/internal/backstop/lease/leasetest"
)

var terms = lease.Terms{TTL: 6 * time.Second, RenewEvery: 2 * time.Second, PollEvery: 500 * time.Millisecond}

func TestOneOfManyWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		for i := range 5 {
			g.join(fmt.Sprint(i))
		}
		elapse(time.Minute)
		if got := g.working(); len(got) != 1 {
			t.Errorf("%v are working, want one", got)
		}
		if diff := cmp.Diff([]string{"0 took 1 released"}, g.told()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestTheNextTakesOverAtOnceWhenTheHolderStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		first := g.join("a")
		elapse(time.Second)
		g.join("b")
		elapse(time.Minute)
		stopped := time.Now()
		first.stop()
		g.wantWorking("b", stopped.Add(terms.PollEvery))
		if diff := cmp.Diff([]string{"a took 1 released", "a ended 1 <nil>", "b took 2 released"}, g.told()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestTheNextTakesOverOneTTLAfterTheHolderDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		first := g.join("a")
		elapse(time.Second)
		g.join("b")
		elapse(time.Minute)
		died := time.Now()
		first.cutOff() // it still believes that it works
		g.wantWorking("b", died.Add(terms.TTL+2*terms.PollEvery))
		if got := g.together(); got != 0 {
			t.Errorf("both worked for %v", got)
		}
		if diff := cmp.Diff([]string{"a took 1 released", "a ended 1 " + lease.ErrLapsed.Error(), "b took 2 expired"}, g.told()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// A renewal that hangs, deaf to its context, must not keep the work going.
func TestWorkEndsInTimeThoughARenewalHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		a := g.join("a")
		elapse(2500 * time.Millisecond) // renewed at 2 s
		a.meet(func(context.Context, string) error { elapse(time.Minute); return errAway })
		elapse(2*time.Second + 4*time.Second - 2500*time.Millisecond + time.Millisecond)
		synctest.Wait()
		if got := g.working(); len(got) != 0 {
			t.Errorf("%v works 4 s after the last renewal was asked for", got)
		}
	})
}

func TestAHolderSurvivesOneRenewalThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		a := g.join("a")
		g.join("b")
		for range 5 {
			elapse(3770 * time.Millisecond)
			a.cutOff()
			elapse(1290 * time.Millisecond)
			a.reconnect()
		}
		if diff := cmp.Diff([]string{"a took 1 released"}, g.told()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// A holder that was paused finds its lease taken when it renews next.
func TestAHolderWhoseLeaseWasTakenStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		g.join("a")
		elapse(time.Second)
		seen, err := g.store.Read(t.Context(), "keeper")
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := g.store.Take(t.Context(), "keeper", seen, lease.State{Token: 2, Holder: "z", TTL: terms.TTL}); !ok || err != nil {
			t.Fatalf("Take = %v, %v", ok, err)
		}
		elapse(1500 * time.Millisecond)
		if got := g.working(); len(got) != 0 {
			t.Errorf("%v works though somebody else has the lease", got)
		}
		if diff := cmp.Diff([]string{"a took 1 released", "a ended 1 " + lease.ErrTaken.Error()}, g.told()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		elapse(10 * time.Second)
		if s, _ := g.store.Read(t.Context(), "keeper"); s.Token != 3 || s.Holder != "a" {
			t.Errorf("the lease is %+v; want it taken again once z has been silent for its TTL", s)
		}
	})
}

// A taking whose answer is lost must not make two believe they have the lease.
func TestATakingWithoutAnAnswerIsNobodys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		a := g.member("a")
		a.hide = true
		g.start(a)
		elapse(time.Second)
		if got := g.working(); len(got) != 0 {
			t.Errorf("%v works without knowing that it has the lease", got)
		}
		a.show()
		elapse(terms.TTL + time.Second)
		if diff := cmp.Diff([]string{"a took 2 expired"}, g.told()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// The lease is given up after the work has ended, not before.
func TestTheLeaseIsKeptUntilTheWorkHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		a := g.member("a")
		a.slow = time.Second
		g.start(a)
		elapse(time.Second)
		g.join("b")
		elapse(time.Second)
		stopped := time.Now()
		a.stop()
		g.wantWorking("b", stopped.Add(a.slow+terms.PollEvery))
		if g.together() != 0 {
			t.Error("the next one began before the work had ended")
		}
	})
}

// A stop that comes while the lease is being taken finds out whether it was.
func TestAStopDuringTheTakingLeavesTheLeaseFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		a := g.member("a")
		g.store.Before = func(_ context.Context, op string) error {
			if op == "take" {
				a.stop()
			}
			return nil
		}
		g.start(a)
		elapse(time.Second)
		if s, err := g.store.Read(t.Context(), "keeper"); err != nil || s != (lease.State{Token: 1, TTL: terms.TTL}) {
			t.Errorf("the lease is %+v, %v; want it taken and given up", s, err)
		}
	})
}

func TestWorkThatEndsByItselfGivesTheLeaseUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		a := g.member("a")
		a.only = time.Second
		g.start(a)
		g.join("b")
		elapse(time.Second)
		g.wantWorking("b", time.Now().Add(2*terms.PollEvery))
	})
}

// group is processes that want one role.
type group struct {
	*testing.T
	store *leasetest.Memory

	mu     sync.Mutex
	events []string
	busy   []string
	since  time.Time // two are busy
	both   time.Duration
}

func newGroup(t *testing.T) *group { return &group{T: t, store: leasetest.NewMemory()} }

// member is one process: an elector with a connection of its own.
type member struct {
	*group
	name  string
	store *connection
	hide  bool          // the answer to a taking is lost
	slow  time.Duration // how long its work takes to stop
	only  time.Duration // how long it works; 0: until it is stopped
	stop  func()
}

var errAway = errors.New("the store is away")

// connection is what a member sees of the store.
type connection struct {
	*leasetest.Memory
	Before func(ctx context.Context, op string) error
	m      *member
}

func (c *connection) Read(ctx context.Context, role string) (lease.State, error) {
	if err := c.before(ctx, "read"); err != nil {
		return lease.State{}, err
	}
	return c.Memory.Read(ctx, role)
}

func (c *connection) Take(ctx context.Context, role string, seen, next lease.State) (bool, error) {
	ok, err := c.Memory.Take(ctx, role, seen, next)
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if c.m.hide {
		return false, errAway
	}
	return ok, err
}

func (c *connection) Renew(ctx context.Context, role string, token int64) (bool, error) {
	if err := c.before(ctx, "renew"); err != nil {
		return false, err
	}
	return c.Memory.Renew(ctx, role, token)
}

func (c *connection) Release(ctx context.Context, role string, token int64) error {
	if err := c.before(ctx, "release"); err != nil {
		return err
	}
	return c.Memory.Release(ctx, role, token)
}

func (c *connection) before(ctx context.Context, op string) error {
	c.m.mu.Lock()
	before := c.Before
	c.m.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(ctx, op)
}

// cutOff takes the connection away, or gives it back.
func (m *member) cutOff() { m.meet(func(context.Context, string) error { return errAway }) }

func (m *member) reconnect() { m.meet(nil) }

// meet sets what happens ahead of every operation but a taking.
func (m *member) meet(before func(context.Context, string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.store.Before = before
}

// show ends that answers are lost.
func (m *member) show() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hide = false
}

func (g *group) member(name string) *member {
	m := &member{group: g, name: name}
	m.store = &connection{Memory: g.store, m: m}
	return m
}

func (g *group) join(name string) *member {
	m := g.member(name)
	g.start(m)
	return m
}

func (g *group) start(m *member) {
	ctx, stop := context.WithCancel(context.WithoutCancel(g.Context()))
	m.stop = stop
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lease.NewElector(m.store, m, lease.Options{Role: "keeper", Holder: m.name, Terms: terms}).Run(ctx, m.work)
	}()
	g.Cleanup(func() { stop(); <-ended })
	synctest.Wait()
}

func (m *member) work(ctx context.Context, _ int64) {
	m.begin()
	if m.only > 0 {
		elapse(m.only)
	} else {
		<-ctx.Done()
	}
	elapse(m.slow)
	m.end()
}

func (m *member) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy = append(m.busy, m.name)
	if len(m.busy) == 2 {
		m.since = time.Now()
	}
}

func (m *member) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.busy) == 2 {
		m.both += time.Since(m.since)
	}
	m.busy = slices.DeleteFunc(m.busy, func(name string) bool { return name == m.name })
}

func (g *group) working() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.busy)
}

func (g *group) told() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.events)
}

func (g *group) together() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.both
}

// wantWorking waits until somebody is the only one to work.
func (g *group) wantWorking(name string, before time.Time) {
	g.Helper()
	for !slices.Equal(g.working(), []string{name}) {
		if time.Now().After(before) {
			g.Fatalf("%v work at %v; want %s alone", g.working(), before, name)
		}
		elapse(10 * time.Millisecond)
	}
}

func (m *member) tell(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, m.name+" "+fmt.Sprintf(format, args...))
}

func (m *member) Watching(context.Context, lease.State) {}

func (m *member) Failed(context.Context, error) {}

func (m *member) Took(_ context.Context, token int64, why lease.Opening) {
	m.tell("took %d %s", token, why)
}

func (m *member) Ended(_ context.Context, token int64, cause error) {
	m.tell("ended %d %v", token, cause)
}

// elapse lets fake time pass.
func elapse(d time.Duration) { <-time.After(d) }
