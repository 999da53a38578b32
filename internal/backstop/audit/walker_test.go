package audit_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// shop makes n codes that agree.
func (w *world) shop(n int) {
	for i := range n {
		id := fmt.Sprintf("c%03d", i)
		w.put(id)
		w.pushed(id)
	}
}

func (w *world) offline(staff string) {
	w.store.EditStaff("acme", staff, func(s *roster.Staff) { s.Presence = roster.OfflineNow })
}

func TestADifferenceThatStaysBecomesDirty(t *testing.T) {
	w := newWorld(t)
	w.shop(10)
	w.put("lost", func(c *roster.Code) { c.Members = []roster.Member{{Staff: "ann"}, {Staff: "dan"}} })
	w.store.PutStaff("acme", roster.Staff{ID: "dan"})
	w.pushed("lost")
	w.offline("dan")
	pass := w.pass(w.walker("w1"))
	if diff := cmp.Diff(map[string]string{"lost": "stale"}, w.marks()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(audit.Tally{"looked": 11, "agrees": 10, "stale": 1}, pass.Tally); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
	if took := pass.Ended.Sub(pass.Begun); took < bound {
		t.Errorf("the second look came after %v; the bound is %v", took, bound)
	}
	if len(w.sampled) != 10 {
		t.Errorf("%d codes sampled; want those that agree", len(w.sampled))
	}
}

// An event was under way: at the second look the code agrees, or another
// difference is being worked on.
func TestADifferenceThatGoesIsNone(t *testing.T) {
	w := newWorld(t)
	w.put("c")
	w.pushed("c")
	w.offline("bob")
	walker := w.walker("w1")
	if _, err := walker.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.pushed("c")
	pass := w.pass(walker)
	if len(w.marks()) != 0 || pass.Tally["agrees"] != 1 {
		t.Errorf("marks %v, tally %v; want none, one that agrees", w.marks(), pass.Tally)
	}
}

func TestADifferenceThatMovesIsLookedAtAgain(t *testing.T) {
	w := newWorld(t)
	w.put("c")
	w.pushed("c")
	w.offline("bob")
	walker := w.walker("w1")
	step := func() {
		t.Helper()
		wait, err := walker.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(wait)
	}
	step()
	w.offline("cyd")
	for range 40 {
		step() // past the bound, and past a look at another difference
	}
	if len(w.marks()) != 0 {
		t.Errorf("marks %v; the difference is a new one", w.marks())
	}
	w.pass(walker)
	if diff := cmp.Diff(map[string]string{"c": "stale"}, w.marks()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

func TestWhatNoRefreshCanMendIsNoted(t *testing.T) {
	w := newWorld(t)
	w.put("bad", func(c *roster.Code) { c.Lane = "quick" })
	w.put("missing", func(c *roster.Code) { c.Members = []roster.Member{{Staff: "ann"}, {Staff: "zoe"}} })
	w.pushed("missing")
	w.recorded = append(w.recorded, acme("gone"))
	w.sets[acme("ghost")] = audit.Set{Version: 1}
	pass := w.pass(w.walker("w1"))
	got := map[string]reason.Reason{}
	for _, f := range w.findings {
		got[f.Code] = f.Kind
	}
	want := map[string]reason.Reason{
		"bad": reason.InvalidFacts, "missing": reason.StaffMissing, "gone": reason.RecordOrphaned, "ghost": reason.SetOrphaned,
	}
	if diff := cmp.Diff(want, got); diff != "" || len(w.marks()) != 0 {
		t.Errorf("findings (-want +got):\n%s\nmarks %v; want none", diff, w.marks())
	}
	if pass.Tally["invalid_facts"] != 1 || pass.Tally["record_orphaned"] != 1 || pass.Tally["set_orphaned"] != 1 {
		t.Errorf("tally %v", pass.Tally)
	}
}

func TestAPassBeginsWhenItIsTime(t *testing.T) {
	w := newWorld(t)
	w.shop(2)
	walker := w.walker("w1")
	first := w.pass(walker)
	second := w.pass(walker)
	if got := second.Begun.Sub(first.Begun); got < every || got > every+2*time.Second || second.Number != 2 {
		t.Errorf("pass %d began %v after the first; want %v", second.Number, got, every)
	}
	if second.Last.Number != 2 || second.Last.Tally["looked"] != 2 {
		t.Errorf("summary %+v", second.Last)
	}
}

func TestAWalkerKeepsItsRate(t *testing.T) {
	w := newWorld(t)
	w.shop(100)
	pass := w.pass(w.walker("w1", func(o *audit.Options) { o.Rate = 10 }))
	// The records are looked at too.
	if took := pass.Ended.Sub(pass.Begun); took < 19*time.Second || took > 21*time.Second {
		t.Errorf("200 looks at 10 a second took %v", took)
	}
}

// Walkers share a pass, die at any step, and stores fail: every code is looked
// at, and each is counted once.
func TestSeveralWalkersShareAPass(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t)
		w.shop(30)
		w.offline("cyd") // every code differs
		for i := range 30 {
			if random.IntN(2) == 0 {
				w.pushed(fmt.Sprintf("c%03d", i)) // and half of them agree again
			}
		}
		w.fail = func(string) error {
			if random.IntN(20) == 0 {
				return errDown
			}
			return nil
		}
		walkers := []*audit.Walker{w.walker("w0"), w.walker("w1"), w.walker("w2")}
		for steps := 0; len(w.ended) == 0; steps++ {
			if steps > 20_000 {
				t.Fatalf("seed %d: the pass does not end", seed)
			}
			at := random.IntN(len(walkers))
			if random.IntN(15) == 0 {
				walkers[at] = w.walker(fmt.Sprint("w", at)) // it died; another process begins
			}
			wait, err := walkers[at].Step(t.Context())
			if err == nil && wait > 0 {
				w.clock.Advance(min(wait, 500*time.Millisecond))
			}
		}
		if n := w.ended[0].Tally["looked"]; n != 30 {
			t.Errorf("seed %d: %d codes counted; want 30: %v", seed, n, w.ended[0].Tally)
		}
		if missed := unlooked(w); len(missed) > 0 {
			t.Errorf("seed %d: %v not looked at", seed, missed)
		}
		w.fail = func(string) error { return nil }
		for code, why := range w.marks() {
			if why != "stale" {
				t.Errorf("seed %d: %s is marked %s", seed, code, why)
			}
		}
		differing := w.ended[0].Tally["stale"] + w.ended[0].Tally["waits"] // in the dirty set since an earlier look
		if int(differing) != len(w.marks()) {
			t.Errorf("seed %d: %d differ, %d are dirty", seed, differing, len(w.marks()))
		}
	}
}

func unlooked(w *world) []push.Ref {
	return slices.DeleteFunc(slices.Clone(w.refs), func(r push.Ref) bool { return w.looked[r] > 0 })
}

// A chunk that is taken over has the codes that are there by then.
func TestATakenOverChunkSeesWhatCameMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.shop(8)
	w.fail = func(what string) error {
		if what == "standing" || what == "of" {
			return errDown
		}
		return nil
	}
	w.put("c000a")
	w.offline("cyd")
	dying := w.walker("w1")
	if _, err := dying.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.put("c000b")
	w.fail = func(string) error { return nil }
	w.clock.Advance(3*bound + patience)
	pass := w.pass(w.walker("w2"))
	if n := pass.Tally["looked"]; n != 10 || w.looked[acme("c000b")] != 1 {
		t.Errorf("%d looked at, %d times at the new one; want 10 and 1: %v", n, w.looked[acme("c000b")], slices.Sorted(maps.Keys(pass.Tally)))
	}
}

// A walker that was paused comes back after its chunk was done by another one,
// while that one is still at work on it, and after the pass: it counts nothing.
func TestAWalkerThatWasPausedCountsNothing(t *testing.T) {
	w := newWorld(t)
	w.put("c")
	w.pushed("c")
	w.offline("cyd")
	paused, other := w.walker("w1"), w.walker("w2")
	step := func(walker *audit.Walker) {
		t.Helper()
		if _, err := walker.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	step(paused)
	w.clock.Advance(3*bound + patience)
	step(other)  // takes the chunk over, and waits for its second look
	step(paused) // looks again
	if pass, _ := w.passes.Get(t.Context()); pass.Tally["looked"] != 0 {
		t.Errorf("tally %v; want nothing of the walker that lost its chunk", pass.Tally)
	}
	if pass := w.pass(other); pass.Tally["looked"] != 1 {
		t.Errorf("tally %v; want one code", pass.Tally)
	}
}

// A visit whose vendor calls or sets take long keeps its chunk, and beats.
func TestALongVisitKeepsItsChunk(t *testing.T) {
	w := newWorld(t)
	w.shop(4)
	other := w.walker("w2")
	beats := 0
	slow := w.walker("w1", func(o *audit.Options) { o.Beat = func() { beats++ } })
	w.asking = func() {
		w.clock.Advance(3*bound + patience - time.Second)
		if _, err := other.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := slow.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if pass, _ := w.passes.Get(t.Context()); pass.Tally["looked"] != 4 {
		t.Errorf("tally %v; want the chunk completed by who had it", pass.Tally)
	}
	if beats < 4 {
		t.Errorf("%d beats; want one for each call", beats)
	}
}
