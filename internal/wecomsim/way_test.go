package wecomsim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCustomersMeetAnUpdateAfterItsPropagation(t *testing.T) {
	h := newHarness(t, Options{Quirks: Quirks{Propagation: 10 * time.Second}})
	id := h.add(`{"type":2,"scene":2,"state":"a","user":["u1"]}`)
	meets := func() string {
		scan, err := h.sim.Scan(t.Context(), corpID, id, nil)
		h.must(err)
		return fmt.Sprintf("%s/%s/%d", scan.Member, scan.State, scan.Version)
	}
	update := func(user, state string) {
		if got := h.call("update_contact_way", `{"config_id":"`+id+`","user":["`+user+`"],"state":"`+state+`"}`); got.ErrCode != 0 {
			t.Fatal(got.Raw)
		}
	}
	var got []string
	see := func(after time.Duration) { h.clock.add(after); got = append(got, meets()) }
	see(0)
	update("u2", "b")
	see(0)
	see(5 * time.Second)
	update("u3", "c") // the former one is still on its way
	see(5 * time.Second)
	see(4 * time.Second)
	see(time.Second)
	if diff := cmp.Diff([]string{"u1/a/1", "u1/a/1", "u1/a/1", "u2/b/2", "u2/b/2", "u3/c/3"}, got); diff != "" {
		t.Errorf("met (-want +got):\n%s", diff)
	}
	update("u1", "d")
	if w := h.way(id); w.User[0] != "u1" {
		t.Errorf("get tells %v, want the new list at once", w.User)
	}
}

// met against the definition, for random writes and delays that change.
func TestMetAgreesWithThePlainHistory(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		now := time.Unix(1000, 0)
		w := &way{Way: Way{Users: []string{"0"}, UpdatedAt: now, Version: 1}}
		history := []edition{w.edition(now)}
		for step := range 60 {
			now = now.Add(time.Duration(rng.IntN(3)) * time.Second)
			if rng.IntN(2) == 0 {
				delay := time.Duration(rng.IntN(6)) * time.Second
				w.write(now, delay, func(w *Way) { w.Users = []string{fmt.Sprint(step)} })
				history = append(history, w.edition(now.Add(delay)))
			}
			want := history[0]
			for _, e := range history { // the latest write that has arrived
				if !e.from.After(now) {
					want = e
				}
			}
			if got := w.met(now); got.version != want.version {
				t.Fatalf("seed %d step %d: met version %d, want %d", seed, step, got.version, want.version)
			}
		}
	}
}

func TestAddWaySeedsWithoutChecks(t *testing.T) {
	h := newHarness(t, Options{})
	at := time.Unix(5, 0)
	id := h.sim.AddWay("new corp", Way{ConfigID: "mine", Users: []string{"nobody"}, CreatedAt: at})
	got, ok := h.sim.Way("new corp", id)
	want := Way{ConfigID: "mine", Type: MultiUser, Scene: QRCode, Users: []string{"nobody"}, CreatedAt: at, UpdatedAt: at, Version: 1}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("way (-want +got), %v:\n%s", ok, diff)
	}
	h.sim.AddWay("new corp", Way{ConfigID: "mine", Remark: "again"})
	if n := h.sim.WayCount("new corp"); n != 1 {
		t.Errorf("%d ways, want the second to replace the first", n)
	}
	a, b := New(Options{}), New(Options{})
	defer a.Close()
	defer b.Close()
	if x, y := a.AddWay("c", Way{}), b.AddWay("c", Way{}); x != y || x == a.AddWay("d", Way{}) {
		t.Error("IDs differ from run to run, or agree between corps")
	}
}

func TestWaysInOrderWhileWritten(t *testing.T) {
	h := newHarness(t, Options{})
	var want []string
	for range 600 {
		want = append(want, h.sim.AddWay(corpID, Way{}))
	}
	var got []string
	for w := range h.sim.Ways(corpID) {
		got = append(got, w.ConfigID)
		h.sim.RemoveWay(corpID, w.ConfigID) // sweeps the order under the iterator
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ways (-want +got):\n%s", diff)
	}
	if h.sim.WayCount(corpID) != 0 || h.sim.RemoveWay(corpID, want[0]) {
		t.Error("ways are left")
	}
}

func TestUnknownCorpHasNothing(t *testing.T) {
	h := newHarness(t, Options{})
	if _, ok := h.sim.Way("x", "y"); ok || h.sim.WayCount("x") != 0 || h.sim.RemoveWay("x", "y") || h.sim.RemoveCorp("x") ||
		h.sim.RemoveStaff("x", "y") || h.sim.Staff("x") != nil || len(slices.Collect(h.sim.Ways("x"))) != 0 {
		t.Error("an unknown corp has something")
	}
	for range h.sim.Ways(corpID) {
		t.Error("a corp without ways has one")
	}
}

func TestExpand(t *testing.T) {
	c := &corp{depts: map[int]map[string]bool{1: {"b": true, "a": true}, 2: {"a": true, "x": true}}}
	for name, tc := range map[string]struct {
		users   []string
		parties []int
		want    []string
	}{
		"users only":           {[]string{"z", "y"}, nil, []string{"z", "y"}},
		"repeated users":       {[]string{"z", "y", "z"}, nil, []string{"z", "y"}},
		"departments sorted":   {nil, []int{2, 1}, []string{"a", "b", "x"}},
		"users before others":  {[]string{"x"}, []int{1, 2}, []string{"x", "a", "b"}},
		"nobody":               {nil, nil, nil},
		"an empty department":  {nil, []int{9}, nil},
		"a user, twice in all": {[]string{"a"}, []int{1}, []string{"a", "b"}},
	} {
		if diff := cmp.Diff(tc.want, c.expand(tc.users, tc.parties)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLatencyQuantiles(t *testing.T) {
	d := newDice(1)
	l := Latency{P50: 40 * time.Millisecond, P99: 300 * time.Millisecond}
	draws := make([]time.Duration, 20_000)
	for i := range draws {
		draws[i] = d.latency(l)
	}
	slices.Sort(draws)
	for q, want := range map[float64]time.Duration{0.5: l.P50, 0.99: l.P99} {
		got := draws[int(q*float64(len(draws)))]
		if off := float64(got)/float64(want) - 1; off < -0.07 || off > 0.07 {
			t.Errorf("quantile %v is %v, want about %v", q, got, want)
		}
	}
	if got := draws[len(draws)-1]; got > 10*l.P99 {
		t.Errorf("the longest is %v", got)
	}
	if got := d.latency(Latency{P50: time.Second}); got != time.Second {
		t.Errorf("constant latency %v", got)
	}
	for _, bad := range []Latency{{P50: -1}, {P50: 2, P99: 1}, {P99: 1}} {
		if bad.validate() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// What a person edits in the console is not in the ledger, leaves the rest of the
// contact way alone, and reaches customers as an update does.
func TestEditInConsole(t *testing.T) {
	h := newHarness(t, Options{Quirks: Quirks{Propagation: 10 * time.Second}})
	calls, _ := h.sim.Ledger().Len()
	ids := h.sim.AddWays(corpID, 3, func(i int) Way {
		return Way{Users: []string{"u1"}, State: fmt.Sprint("s", i), Remark: "r", SkipVerify: true}
	})
	if len(ids) != 3 || h.sim.WayCount(corpID) != 3 {
		t.Fatalf("added %v", ids)
	}
	if !h.sim.EditInConsole(corpID, ids[1], []string{"u2", "u3"}) {
		t.Error("there is no such contact way")
	}
	for _, unknown := range [][2]string{{corpID, "none"}, {"ww9", ids[1]}} {
		if h.sim.EditInConsole(unknown[0], unknown[1], []string{"u2"}) {
			t.Errorf("%v is there", unknown)
		}
	}
	for i, want := range []string{"[u1] s0 r true 1", "[u2 u3] s1 r true 2", "[u1] s2 r true 1"} {
		w, _ := h.sim.Way(corpID, ids[i])
		if got := fmt.Sprint(w.Users, " ", w.State, " ", w.Remark, " ", w.SkipVerify, " ", w.Version); got != want {
			t.Errorf("%d is %s, want %s", i, got, want)
		}
	}
	scan, err := h.sim.Scan(t.Context(), corpID, ids[1], nil)
	h.must(err)
	h.clock.add(10 * time.Second)
	later, err := h.sim.Scan(t.Context(), corpID, ids[1], nil)
	h.must(err)
	if scan.Member != "u1" || later.Member == "u1" {
		t.Errorf("met %s, then %s", scan.Member, later.Member)
	}
	if n, _ := h.sim.Ledger().Len(); n != calls {
		t.Errorf("%d calls are in the ledger, want %d", n, calls)
	}
}
