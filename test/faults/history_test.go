package faults

import (
	"strings"
	"testing"
	"time"
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
			var h history
			h.ask(noon, split(both))
			h.ask(noon.Add(10*time.Second), split(bob))
			h.ask(noon.Add(20*time.Second), split(both))
			for i, p := range c.pushes {
				at := noon.Add(p.at)
				h.take(taken{split(p.members), int64(i + 2), at.Add(-p.wire), at})
			}
			got := h.judge()
			if got.pushes != len(c.pushes) || got.extra != c.extra || len(got.stale) != c.stale {
				t.Errorf("%d pushes, %d extra, stale %v; want %d, %d, %d", got.pushes, got.extra, got.stale, len(c.pushes), c.extra, c.stale)
			}
		})
	}
}

func TestPushesReportedOutOfOrderAreJudgedInOrder(t *testing.T) {
	noon := time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)
	var h history
	h.ask(noon, []string{"ann"})
	h.ask(noon.Add(time.Second), []string{"bob"})
	h.take(taken{[]string{"bob"}, 3, noon.Add(3 * time.Second), noon.Add(3 * time.Second)})
	h.take(taken{[]string{"ann"}, 2, noon.Add(2 * time.Second), noon.Add(2 * time.Second)})
	if got := h.judge(); len(got.stale) > 0 || got.extra > 0 {
		t.Errorf("judged %+v; want two good pushes", got)
	}
}

func split(members string) []string {
	var out []string
	for name := range strings.FieldsSeq(members) {
		out = append(out, name)
	}
	return out
}
