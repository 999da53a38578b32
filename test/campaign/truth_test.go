package campaign

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var noon = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)

// onePair is a truth of one code with ann and bob.
func onePair() (*truth, *tally) {
	t := newTally()
	plan := tenantPlan{
		tenant: roster.Tenant{ID: "acme"},
		staff:  []roster.Staff{{ID: "ann", Presence: roster.Online}, {ID: "bob", Presence: roster.Online}},
		codes: []roster.Code{{
			ID: "acme-c1", Tenant: "acme", Family: roster.Native, Members: []roster.Member{{Staff: "ann"}, {Staff: "bob"}},
			Switches: roster.Switches{OfflineCheck: true}, Revision: 1,
		}},
	}
	tr := newTruth(plan, t)
	tr.change(noon, func() []string { return []string{"acme-c1"} })
	return tr, t
}

func (tr *truth) flip(at time.Duration, staff string, presence roster.Presence) {
	tr.change(noon.Add(at), func() []string {
		s := tr.staff[staff]
		s.Presence = presence
		tr.staff[staff] = s
		return tr.sits[staff]
	})
}

func TestStalePushes(t *testing.T) {
	both, bob := []string{"ann", "bob"}, []string{"bob"}
	type push struct {
		at      time.Duration
		members []string
		wire    time.Duration // from its arrival to its effect
	}
	cases := []struct {
		name             string
		pushes           []push
		stale, unmatched int
	}{
		{"each list in its turn", []push{{1 * time.Second, both, 0}, {11 * time.Second, bob, 0}, {21 * time.Second, both, 0}}, 0, 0},
		{"a list decided before the last change and landing after it", []push{{1 * time.Second, both, 0}, {21 * time.Second, bob, 0}}, 0, 0},
		{"the list that was newest is replaced by one in between", []push{{11 * time.Second, bob, 0}, {12 * time.Second, both, 0}}, 1, 0},
		{"the same, but both were on the wire at once", []push{{11 * time.Second, bob, 0}, {12 * time.Second, both, 5 * time.Second}}, 0, 0},
		{"a list that was never asked for", []push{{1 * time.Second, []string{"ann"}, 0}}, 0, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tr, tally := onePair()
			tr.flip(10*time.Second, "ann", roster.OfflineNow)
			tr.flip(20*time.Second, "ann", roster.Online)
			for i, p := range c.pushes {
				at := noon.Add(p.at)
				tr.applied("acme-c1", taken{p.members, int64(i + 2), at.Add(-p.wire), at})
			}
			if tally.staleCount != c.stale || tally.noMatch != c.unmatched {
				t.Errorf("stale %d, unmatched %d; want %d and %d", tally.staleCount, tally.noMatch, c.stale, c.unmatched)
			}
		})
	}
}

func TestFreshnessCountsEveryVersionOnce(t *testing.T) {
	tr, tally := onePair()
	tr.applied("acme-c1", taken{[]string{"ann", "bob"}, 2, noon.Add(1 * time.Second), noon.Add(1 * time.Second)})
	tr.flip(10*time.Second, "ann", roster.OfflineNow)
	tr.applied("acme-c1", taken{[]string{"bob"}, 3, noon.Add(12 * time.Second), noon.Add(12 * time.Second)})
	tr.applied("acme-c1", taken{[]string{"bob"}, 4, noon.Add(15 * time.Second), noon.Add(15 * time.Second)}) // a repeat is no news
	if n := tally.all.TotalCount(); n != 2 {
		t.Errorf("%d samples; want 2", n)
	}
	if worst := quantile(tally.all, 100); worst < 1990*time.Millisecond || worst > 2010*time.Millisecond {
		t.Errorf("the slowest took %v; want 2s", worst)
	}
}

func TestScansAreJudgedByTheFactsOfTheirInstant(t *testing.T) {
	tr, _ := onePair()
	tr.flip(10*time.Second, "ann", roster.OfflineNow)
	if j := tr.scanned("acme-c1", "bob", "wm1", noon.Add(12*time.Second)); j.cause != "" {
		t.Errorf("bob is on line; judged %+v", j)
	}
	if j := tr.scanned("acme-c1", "ann", "wm1", noon.Add(12*time.Second)); j.cause != reason.Offline || j.age != 2*time.Second {
		t.Errorf("ann is off line for 2s; judged %+v", j)
	}
	if j := tr.scanned("acme-c1", "zoe", "wm1", noon.Add(12*time.Second)); j.cause != notOnCode {
		t.Errorf("zoe is not on the code; judged %+v", j)
	}
}

// Ann may take one customer. A second is beyond her ceiling, unless she was met
// because nobody else was left.
func TestAdditionsBeyondACeiling(t *testing.T) {
	tr, tally := onePair()
	c := tr.codes["acme-c1"]
	c.code.Switches.AddLimit = true
	c.code.Members[0].AddLimit, c.code.Members[1].AddLimit = 1, 1
	day := roster.DayOf(noon, shanghai)
	for i, customer := range []string{"wm1", "wm2"} {
		tr.count("acme-c1", "ann", customer, day)
		if n := tally.over["native at_add_limit"]; n != i {
			t.Errorf("after %d additions %d are beyond the ceiling, want %d", i+1, n, i)
		}
	}
	c.code.Backups = []string{"ann"}
	tr.count("acme-c1", "bob", "wm3", day)
	if j := tr.scanned("acme-c1", "ann", "wm4", noon.Add(time.Second)); j.cause != "" {
		t.Fatalf("ann is the backup; judged %+v", j)
	}
	tr.count("acme-c1", "ann", "wm4", day)
	if n := tally.over["native at_add_limit"]; n != 1 {
		t.Errorf("%d additions are beyond the ceiling, want 1: a backup has none", n)
	}
}

func TestSameSeedSameWorld(t *testing.T) {
	o := Defaults()
	a, b := plan(o, noon), plan(o, noon)
	if len(a) != o.Tenants+1 || a[3].codes[0].Members[1] != b[3].codes[0].Members[1] {
		t.Error("the same seed gave two worlds")
	}
}

func TestOptionsThatMakeNoSenseAreAllNamed(t *testing.T) {
	err := Options{Tenants: 2, Codes: 1, Staff: 3, Duration: time.Second, Binary: "x"}.Validate()
	for _, flag := range []string{"--codes", "--staff", "--duration", "--refreshers"} {
		if err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%v does not name %s", err, flag)
		}
	}
}
