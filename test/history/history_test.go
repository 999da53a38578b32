package history_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/test/history"
)

func TestPushesAreJudgedByTheFactsBehindThem(t *testing.T) {
	both, bob, none := "ann bob", "bob", "zoe"
	type push struct {
		at      time.Duration
		members string
		wire    time.Duration // from its arrival to its effect
	}
	for _, c := range []struct {
		name         string
		pushes       []push
		extra, stale int
	}{
		{"each list in its turn", []push{{1 * time.Second, both, 0}, {11 * time.Second, bob, 0}, {21 * time.Second, both, 0}}, 0, 0},
		{"a list repeated", []push{{1 * time.Second, both, 0}, {2 * time.Second, both, 0}}, 1, 0},
		{"a change that came back unnoticed", []push{{1 * time.Second, both, 0}, {21 * time.Second, both, 0}}, 1, 0},
		{"an older list that lands late, but alone", []push{{1 * time.Second, both, 0}, {21 * time.Second, bob, 0}}, 0, 0},
		{"an older list after a newer one", []push{{11 * time.Second, bob, 0}, {12 * time.Second, both, 0}}, 0, 1},
		{"the same, both on the wire at once", []push{{11 * time.Second, bob, 0}, {12 * time.Second, both, 5 * time.Second}}, 0, 0},
		{"a list that nothing asked for", []push{{1 * time.Second, none, 0}}, 0, 1},
		{"a list before its facts", []push{{9 * time.Second, bob, 0}}, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			noon := time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)
			var h history.History
			h.Ask(noon, split(both))
			h.Ask(noon.Add(10*time.Second), split(bob))
			h.Ask(noon.Add(20*time.Second), split(both))
			for i, p := range c.pushes {
				at := noon.Add(p.at)
				h.Take(history.Taken{Members: split(p.members), Written: int64(i + 2), Received: at.Add(-p.wire), Applied: at})
			}
			got := h.Judge(time.Time{})
			if got.Pushes != len(c.pushes) || got.Extra != c.extra || len(got.Stale) != c.stale {
				t.Errorf("%d pushes, %d extra, stale %v; want %d, %d, %d", got.Pushes, got.Extra, got.Stale, len(c.pushes), c.extra, c.stale)
			}
		})
	}
}

func TestPushesReportedOutOfOrderAreJudgedInOrder(t *testing.T) {
	noon := time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)
	var h history.History
	h.Ask(noon, []string{"ann"})
	h.Ask(noon.Add(time.Second), []string{"bob"})
	h.Take(history.Taken{Members: []string{"bob"}, Written: 3, Received: noon.Add(3 * time.Second), Applied: noon.Add(3 * time.Second)})
	h.Take(history.Taken{Members: []string{"ann"}, Written: 2, Received: noon.Add(2 * time.Second), Applied: noon.Add(2 * time.Second)})
	if got := h.Judge(time.Time{}); len(got.Stale) > 0 || got.Extra > 0 {
		t.Errorf("judged %+v; want two good pushes", got)
	}
}

// A push of before counts as what WeCom had, and is nobody's fault.
func TestPushesOfBeforeAreNotJudged(t *testing.T) {
	noon := time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)
	var h history.History
	take := func(after time.Duration, written int64, member string) {
		h.Take(history.Taken{Members: []string{member}, Written: written, Received: noon.Add(after), Applied: noon.Add(after)})
	}
	h.Ask(noon, []string{"ann"})
	h.Ask(noon.Add(time.Second), []string{"bob"})
	take(2*time.Second, 2, "zoe")
	take(3*time.Second, 3, "bob")
	take(5*time.Second, 4, "ann")
	if got := h.Judge(noon.Add(4 * time.Second)); got.Pushes != 1 || len(got.Stale) != 1 {
		t.Errorf("judged %+v; want one push, which is older than what WeCom had", got)
	}
}

func split(members string) []string {
	var out []string
	for name := range strings.FieldsSeq(members) {
		out = append(out, name)
	}
	return out
}
