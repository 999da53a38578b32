package pushtest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

func searchKept(t *testing.T, b StoreBench) {
	b.seed()
	intent := b.begin(t, 0)
	search := push.Search{List: "hash", Suspects: []string{"li.na", "wang"}}
	b.setSearch(t, search)
	b.wantRecord(t, push.Record{Epoch: 1, Intents: []push.Intent{intent}, Search: search})
	committed := b.committed(1)
	if ok, err := b.Store.Commit(t.Context(), acme, committed, []int64{1}, time.Time{}); !ok || err != nil {
		t.Fatalf("Commit = %v, %v; want true", ok, err)
	}
	b.wantRecord(t, push.Record{Epoch: 1, Committed: committed, Search: search})
	b.setSearch(t, push.Search{})
	b.wantRecord(t, push.Record{Epoch: 1, Committed: committed})
}

func (b StoreBench) setSearch(t *testing.T, search push.Search) {
	t.Helper()
	if err := b.Store.SetSearch(t.Context(), acme, search); err != nil {
		t.Fatalf("SetSearch(%+v): %v", search, err)
	}
}

func quarantineGrows(t *testing.T, b StoreBench) {
	b.seed()
	until := b.instant().Add(time.Hour)
	for _, at := range []time.Time{until.Add(-time.Minute), until, until.Add(-time.Minute)} {
		if err := b.Store.Quarantine(t.Context(), acme.Tenant, "wang", at, "errcode 60111"); err != nil {
			t.Fatalf("Quarantine: %v", err)
		}
	}
	facts, _ := b.load(t, acme)
	want := map[string]roster.Staff{"li.na": {ID: "li.na"}, "wang": {ID: "wang", QuarantinedUntil: until}}
	if diff := cmp.Diff(want, facts.Staff, equal); diff != "" {
		t.Errorf("staff (-want +got):\n%s", diff)
	}
}

func quarantineUnknown(t *testing.T, b StoreBench) {
	b.seed()
	if err := b.Store.Quarantine(t.Context(), acme.Tenant, "nobody", b.instant(), ""); err == nil {
		t.Error("somebody who is not there went into quarantine")
	}
	if err := b.Store.Quarantine(t.Context(), "globex", "wang", b.instant(), ""); err == nil {
		t.Error("another tenant's staff member went into quarantine")
	}
}

func suspensionKept(t *testing.T, b StoreBench) {
	b.seed()
	first := b.suspension(time.Minute)
	b.suspend(t, time.Time{}, first)
	b.wantSuspension(t, first)
	b.PutTenant(roster.Tenant{ID: acme.Tenant, TimeZone: "Asia/Urumqi"}) // a producer's edit
	b.wantSuspension(t, first)
	second := b.suspension(2 * time.Minute)
	b.suspend(t, first.NextProbe, second)
	b.wantSuspension(t, second)
	b.resume(t, second.NextProbe)
	b.wantSuspension(t, roster.Suspension{})
}

func suspensionRace(t *testing.T, b StoreBench) {
	b.seed()
	first, second := b.suspension(time.Minute), b.suspension(time.Hour)
	for _, c := range []struct {
		seen time.Time
		to   roster.Suspension
	}{{time.Time{}, first}, {first.NextProbe, second}} {
		winners := suitetest.Race(t, 16, func(int) (bool, error) {
			return b.Store.Suspend(t.Context(), acme.Tenant, c.seen, c.to)
		})
		if len(winners) != 1 {
			t.Errorf("%d racers may make the probe of %v; want 1", len(winners), c.seen)
		}
	}
	b.wantSuspension(t, second)
}

func suspensionStale(t *testing.T, b StoreBench) {
	b.seed()
	first, second := b.suspension(time.Minute), b.suspension(time.Hour)
	b.suspend(t, time.Time{}, first)
	b.suspend(t, first.NextProbe, second)
	b.resume(t, first.NextProbe)
	if ok, err := b.Store.Suspend(t.Context(), acme.Tenant, time.Time{}, first); ok || err != nil {
		t.Errorf("Suspend of a tenant that is suspended = %v, %v; want false", ok, err)
	}
	if ok, err := b.Store.Suspend(t.Context(), "nobody", time.Time{}, first); ok || err != nil {
		t.Errorf("Suspend of an unknown tenant = %v, %v; want false", ok, err)
	}
	b.wantSuspension(t, second)
}

func (b StoreBench) suspension(nextProbe time.Duration) roster.Suspension {
	at := b.instant()
	return roster.Suspension{Since: at, NextProbe: at.Add(nextProbe), Probes: 2, Detail: "errcode 40001"}
}

func (b StoreBench) suspend(t *testing.T, seen time.Time, to roster.Suspension) {
	t.Helper()
	if ok, err := b.Store.Suspend(t.Context(), acme.Tenant, seen, to); !ok || err != nil {
		t.Fatalf("Suspend = %v, %v; want true", ok, err)
	}
}

func (b StoreBench) resume(t *testing.T, seen time.Time) {
	t.Helper()
	if err := b.Store.Resume(t.Context(), acme.Tenant, seen); err != nil {
		t.Fatalf("Resume: %v", err)
	}
}

func (b StoreBench) wantSuspension(t *testing.T, want roster.Suspension) {
	t.Helper()
	facts, _ := b.load(t, acme)
	if diff := cmp.Diff(want, facts.Tenant.Suspension); diff != "" {
		t.Errorf("suspension (-want +got):\n%s", diff)
	}
}
