//go:build integration

package keeper_test

import (
	"flag"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"
)

// ttl is the default of ROLLCALL_KEEPER_LEASE_TTL, and slack what a machine
// that is busy with other tests may add to a time that depends on it.
const (
	ttl   = 6 * time.Second
	slack = 6 * time.Second
)

var full = flag.Bool("full", false, "ten takeovers instead of three")

// A keeper is killed in the middle of a sweep, several times. Another one goes
// on within seconds, and no code is lost.
func TestAKilledKeeperIsReplaced(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.start()
	var worst time.Duration
	times := 3
	if *full {
		times = 10
	}
	for i := range times {
		holder, held := h.holder(0)
		h.mark(fmt.Sprintf("kill%d", i), 40, 10)
		h.sweeping()
		killed := time.Now()
		h.must(h.fleet.Kill(holder))
		h.holder(held.Token)
		h.sweeping()
		took := time.Since(killed)
		t.Logf("takeover %2d: %s after the kill", i+1, took.Round(10*time.Millisecond))
		worst = max(worst, took)
		h.start()
	}
	h.wantAllReleased(2 * time.Minute)
	events, codes := h.published()
	t.Logf("worst of %d takeovers: %s; %d events of %d codes, none lost", times, worst.Round(10*time.Millisecond), events, codes)
	if worst > ttl+slack {
		t.Errorf("a takeover took %s, want about %s", worst, ttl)
	}
	// A kill can repeat no more than what was published and not yet removed.
	if events > codes*11/10 {
		t.Errorf("%d events of %d codes: too many were published twice", events, codes)
	}
}

// sweeping waits until something is released from now on.
func (h *house) sweeping() {
	h.Helper()
	before, _ := h.published()
	h.eventually(60*time.Second, "a code is released", func() bool {
		now, _ := h.published()
		return now > before
	})
}

// A keeper that is asked to stop hands over at once.
func TestAKeeperThatStopsHandsOver(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.start()
	h.mark("stop", 40, 30)
	var worst time.Duration
	for range 3 {
		holder, held := h.holder(0)
		stopped := time.Now()
		h.signal(holder, syscall.SIGTERM)
		h.holder(held.Token)
		worst = max(worst, time.Since(stopped))
		h.start()
	}
	t.Logf("worst of 3 handovers: %s after SIGTERM", worst.Round(10*time.Millisecond))
	if worst >= ttl {
		t.Errorf("a handover took %s: the lease was not given up", worst)
	}
	h.wantAllReleased(2 * time.Minute)
}

// A keeper is frozen in the middle of a sweep until another one has taken over
// and finished it. Then the codes become dirty anew, for later, and it wakes up.
// It finds its time over and stands by; none of the new entries is gone.
func TestAFrozenKeeperDoesNoHarmWhenItWakesUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.start()
	for round := 1; round <= 2; round++ {
		zombie, held := h.holder(0)
		name := fmt.Sprintf("frozen%d", round)
		h.mark(name, 40, 20)
		h.sweeping()
		h.signal(zombie, syscall.SIGSTOP)
		_, next := h.holder(held.Token)
		h.wantNothingDue()
		h.markAnew(name, 40, 20)
		h.signal(zombie, syscall.SIGCONT)
		h.mark(name+"-beside", 40, 5) // the other one is at work
		h.eventually(30*time.Second, "one keeper works and one stands by", func() bool {
			return h.fleet.Figures(t.Context()).Sum("rollcall_keeper_lease") == 1
		})
		if now := h.lease(); now.Token != next.Token {
			t.Errorf("the lease went from token %d to %d: the keeper that woke up disturbed the other", next.Token, now.Token)
		}
		h.wantNothingDue()
		if n := h.dirty(); n != round*40*20 {
			t.Errorf("%d codes are in the set, want the %d that are for later", n, round*40*20)
		}
		h.eventually(10*time.Second, "every code that was due was published", func() bool { return len(h.missing()) == 0 })
	}
}

// Fifty thousand codes of one tenant are due, and three of each of forty others.
func TestAStormOfOneTenantStandsInNobodysWay(t *testing.T) {
	h := newHouse(t)
	h.mark("storm", 1, 50_000)
	h.mark("calm", 40, 3)
	h.start()
	begun := time.Now()
	h.eventually(60*time.Second, "every calm code is released", func() bool { return h.releasedOf("calm") == 120 })
	calm := time.Since(begun)
	t.Logf("120 codes of 40 calm tenants: all released %s after the keeper was ready, beside 50 000 due codes of one tenant", calm.Round(time.Millisecond))
	const span = 20 * time.Second
	before, at := h.releasedOf("storm"), time.Now()
	h.eventually(2*span, "the storm is watched", func() bool { return time.Since(at) > span })
	rate := float64(h.releasedOf("storm")-before) / time.Since(at).Seconds()
	sweeps := h.fleet.Figures(t.Context())
	mean := sweeps.Sum("rollcall_keeper_sweep_seconds_sum", `sweep="release"`) / sweeps.Sum("rollcall_keeper_sweep_seconds_count", `sweep="release"`)
	t.Logf("the storm: %.1f codes a second; a sweep takes %.0f ms", rate, 1000*mean)
	// Behind the storm they would wait 50 000 codes at 39.5 a second: 21 minutes.
	if calm > 30*time.Second {
		t.Errorf("calm tenants waited %s", calm)
	}
	// A busy machine may be slower. Faster than the pace is only what a sweep
	// that was late makes up for, two seconds' worth at most.
	if rate > 39.5*(span+3*time.Second).Seconds()/span.Seconds() || rate < 15 {
		t.Errorf("the storm is released at %.1f codes a second, want its pace of 39.5", rate)
	}
}

func (h *house) releasedOf(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for ref := range h.seen {
		if len(ref.Tenant) > len(name) && ref.Tenant[:len(name)] == name {
			n++
		}
	}
	return n
}

// buildDir is where the binary is built.
var buildDir string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "rollcall-keeper")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	buildDir = dir
	return m.Run()
}
