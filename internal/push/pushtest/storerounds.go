package pushtest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

func roundFirst(t *testing.T, b StoreBench) {
	b.seed()
	b.advance(t, 0)
	b.wantCounters(t, roster.Counters{Round: 1})
}

func roundAdvances(t *testing.T, b StoreBench) {
	b.seed()
	today := roster.DayOf(b.Now(), time.UTC)
	b.CountAddition(acme, "li.na", today)
	b.advance(t, 0)
	b.CountAddition(acme, "li.na", today)
	b.CountAddition(acme, "wang", today)
	want := roster.Counters{
		Total:   map[string]int{"li.na": 2, "wang": 1},
		Days:    map[roster.Day]map[string]int{today: {"li.na": 2, "wang": 1}},
		Round:   1,
		InRound: map[string]int{"li.na": 1, "wang": 1},
	}
	b.wantCounters(t, want)
	for _, from := range []int64{0, 2} {
		if ok, err := b.Store.AdvanceRound(t.Context(), acme, from); ok || err != nil {
			t.Errorf("AdvanceRound from %d in round 1 = %v, %v; want false", from, ok, err)
		}
	}
	b.wantCounters(t, want)
	b.advance(t, 1)
	want.Round, want.InRound = 2, nil
	b.wantCounters(t, want)
}

func roundRace(t *testing.T, b StoreBench) {
	b.seed()
	for from := range int64(4) {
		winners := suitetest.Race(t, 16, func(int) (bool, error) {
			return b.Store.AdvanceRound(t.Context(), acme, from)
		})
		if len(winners) != 1 {
			t.Errorf("%d racers advanced round %d, want 1", len(winners), from)
		}
	}
	b.wantCounters(t, roster.Counters{Round: 4})
}

// roundBesideAdditions: an addition may land in either round and is never lost.
func roundBesideAdditions(t *testing.T, b StoreBench) {
	const n = 15
	b.seed()
	today := roster.DayOf(b.Now(), time.UTC)
	suitetest.Race(t, n+1, func(i int) (bool, error) {
		if i == 0 {
			return b.Store.AdvanceRound(t.Context(), acme, 0)
		}
		b.CountAddition(acme, "li.na", today)
		return true, nil
	})
	facts, _ := b.load(t, acme)
	c := facts.Counters
	if c.Round != 1 || c.Total["li.na"] != n || c.Days[today]["li.na"] != n || c.InRound["li.na"] > n {
		t.Errorf("after %d additions and one advance: %+v", n, c)
	}
}

func deletedCloses(t *testing.T, b StoreBench) {
	b.seed()
	b.begin(t, 0)
	b.setFailure(t, push.Failure{Streak: 3, Class: reason.Gone})
	b.markDeleted(t)
	facts, _ := b.load(t, acme)
	if !facts.Code.Deleted {
		t.Error("the code is not marked as deleted")
	}
	// The epoch stays, so that whoever was cut off at epoch 1 is still fenced.
	b.wantRecord(t, push.Record{Epoch: 1})
}

func deletedTwice(t *testing.T, b StoreBench) {
	b.seed()
	b.markDeleted(t)
	b.markDeleted(t)
	b.wantRecord(t, push.Record{})
}

func deletedWall(t *testing.T, b StoreBench) {
	b.seed()
	for _, ref := range []push.Ref{{Tenant: "globex", Code: acme.Code}, {Tenant: acme.Tenant, Code: "other"}} {
		if err := b.Store.MarkDeleted(t.Context(), ref, b.instant()); !errors.Is(err, push.ErrUnknownCode) {
			t.Errorf("MarkDeleted(%v) = %v, want %v", ref, err, push.ErrUnknownCode)
		}
	}
	if facts, _ := b.load(t, acme); facts.Code.Deleted {
		t.Error("another tenant marked the code as deleted")
	}
}

func (b StoreBench) markDeleted(t *testing.T) {
	t.Helper()
	if err := b.Store.MarkDeleted(t.Context(), acme, b.instant()); err != nil {
		t.Fatalf("MarkDeleted: %v", err)
	}
}

func (b StoreBench) advance(t *testing.T, from int64) {
	t.Helper()
	if ok, err := b.Store.AdvanceRound(t.Context(), acme, from); !ok || err != nil {
		t.Fatalf("AdvanceRound from %d = %v, %v; want true", from, ok, err)
	}
}

func (b StoreBench) wantCounters(t *testing.T, want roster.Counters) {
	t.Helper()
	facts, _ := b.load(t, acme)
	if diff := cmp.Diff(want, facts.Counters, equal); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}
