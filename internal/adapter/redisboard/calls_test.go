package redisboard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisboard"
	"github.com/rollcall-dev/rollcall/internal/board"
)

func asked(tenant string, at time.Time, granted, refused int) board.TenantMinute {
	return board.TenantMinute{Tenant: tenant, Minute: board.Minute{At: at, Granted: granted, Refused: refused}}
}

func (s *stage) ask(calls ...board.TenantMinute) {
	s.t.Helper()
	s.put(board.Report{Instance: "r", Role: board.Refresher, At: s.now}, calls...)
}

func (s *stage) use(tenant string, since time.Time) []board.Minute {
	s.t.Helper()
	got, err := s.board.Use(s.t.Context(), tenant, since)
	s.must(err)
	return got
}

func (s *stage) hottest(n int, named ...string) []board.TenantUse {
	s.t.Helper()
	got, err := s.board.Hottest(s.t.Context(), s.now, n, named)
	s.must(err)
	slices.SortFunc(got, func(a, b board.TenantUse) int { return strings.Compare(a.Tenant, b.Tenant) })
	return got
}

func TestCallsOfAllProcessesAreAddedUpByTheMinute(t *testing.T) {
	s := newStage(t)
	s.ask(asked("acme", noon, 3, 1), asked("acme", noon.Add(-61*time.Minute), 7, 0), asked("globex", noon, 9, 9))
	s.ask(asked("acme", noon, 2, 0), asked("acme", noon.Add(time.Minute), 0, 5))
	want := []board.Minute{
		{At: noon.Add(-61 * time.Minute), Granted: 7}, {At: noon, Granted: 5, Refused: 1}, {At: noon.Add(time.Minute), Refused: 5},
	}
	s.wait(2 * time.Minute)
	if diff := cmp.Diff(want, s.use("acme", noon.Add(-time.Hour-time.Minute))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1:], s.use("acme", noon.Add(30*time.Second))); diff != "" {
		t.Errorf("from the minute that the instant is in:\n%s", diff)
	}
	if got := s.use("nobody", noon); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestADayIsKeptAndNoMore(t *testing.T) {
	s := newStage(t)
	for hour := range 30 {
		s.ask(asked("acme", s.now, hour+1, 0))
		s.wait(time.Hour)
	}
	got := s.use("acme", noon)
	if len(got) != 24 || got[0].Granted != 7 || got[23].Granted != 30 {
		t.Errorf("%d minutes: %v", len(got), got)
	}
	keys := slices.DeleteFunc(s.server.Keys(), func(key string) bool { return !strings.Contains(key, ":calls:") })
	if len(keys) > 25 {
		t.Errorf("%d hours are kept", len(keys))
	}
}

func TestTenantsWithOddNamesKeepTheirOwnCalls(t *testing.T) {
	s := newStage(t)
	s.ask(asked("a:b", noon, 1, 0), asked("a%3Ab", noon, 2, 0), asked("a}:b", noon, 3, 0))
	if key := "rollcall:{t:a%7D%3Ab}:calls:498900"; !s.server.Exists(key) {
		t.Errorf("no %s: its part that is hashed has to be the tenant", key)
	}
	for tenant, want := range map[string]int{"a:b": 1, "a%3Ab": 2, "a}:b": 3} {
		if got := s.use(tenant, noon); len(got) != 1 || got[0].Granted != want {
			t.Errorf("%s: %v", tenant, got)
		}
	}
}

func TestTheHottestTenants(t *testing.T) {
	s := newStage(t)
	s.ask(
		asked("busy", noon, 50, 3), asked("busy", noon.Add(-time.Minute), 60, 0), asked("busy", noon.Add(-59*time.Minute), 100, 0),
		asked("busy", noon.Add(-time.Hour), 1000, 0), asked("refused", noon, 0, 80), asked("calm", noon, 1, 0),
		asked("was busy", noon.Add(-5*time.Minute), 900, 0),
	)
	want := []board.TenantUse{
		{Tenant: "busy", Minute: 60, Hour: 210, Refused: 3},
		{Tenant: "idle"},
		{Tenant: "refused", Refused: 80},
	}
	if diff := cmp.Diff(want, s.hottest(2, "idle", "busy")); diff != "" {
		t.Error(diff)
	}
	s.wait(10 * time.Minute)
	if got := s.hottest(2); len(got) != 0 {
		t.Errorf("nobody called lately: %v", got)
	}
}

func TestABusyDayOfATenantIsSmall(t *testing.T) {
	s := newStage(t)
	for hour := range 24 {
		var calls []board.TenantMinute
		for minute := range 60 {
			calls = append(calls, asked("acme", noon.Add(time.Duration(hour*60+minute)*time.Minute), 10_000, 10_000))
		}
		s.ask(calls...)
	}
	bytes := 0
	for _, key := range s.server.Keys() {
		if fields, err := s.server.HKeys(key); err == nil {
			for _, field := range fields {
				bytes += len(field) + len(s.server.HGet(key, field)) + 4 // a listpack's own two bytes each
			}
			if len(fields) > 128 {
				t.Errorf("%s has %d fields: more than Redis packs", key, len(fields))
			}
		}
	}
	if bytes > 40_000 {
		t.Error(fmt.Sprint(bytes, " bytes"))
	}
	t.Log(bytes, "bytes, kept for", redisboard.Kept)
}
