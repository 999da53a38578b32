package redisboard_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisboard"
	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// stage is a board on a Redis, both with a clock that only wait moves.
type stage struct {
	t      *testing.T
	server *miniredis.Miniredis
	client *redis.Client
	board  *redisboard.Board
	now    time.Time
	trips  int
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, server: miniredis.RunT(t), now: noon}
	s.client = redis.NewClient(&redis.Options{Addr: s.server.Addr(), MaxRetries: -1})
	s.client.AddHook(counting{&s.trips})
	t.Cleanup(func() { _ = s.client.Close() })
	var err error
	s.board, err = redisboard.New(s.client, redisboard.Options{Clock: func() time.Time { return s.now }})
	s.must(err)
	return s
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) wait(d time.Duration) {
	s.now = s.now.Add(d)
	s.server.FastForward(d)
}

func (s *stage) put(r board.Report, calls ...board.TenantMinute) {
	s.t.Helper()
	s.must(s.board.Put(s.t.Context(), r, calls))
}

// reports are what the board says, by name.
func (s *stage) reports() []board.Report {
	s.t.Helper()
	got, err := s.board.Reports(s.t.Context())
	s.must(err)
	slices.SortFunc(got, func(a, b board.Report) int { return strings.Compare(a.Instance, b.Instance) })
	return got
}

// counting counts round trips, but for those of a new connection.
type counting struct{ trips *int }

func (c counting) count(first redis.Cmder) {
	if name := first.Name(); name != "hello" && name != "client" {
		*c.trips++
	}
}

func (c counting) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c counting) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.count(cmd)
		return next(ctx, cmd)
	}
}

func (c counting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.count(cmds[0])
		return next(ctx, cmds)
	}
}

func TestAReportIsReadAsItWasTold(t *testing.T) {
	s := newStage(t)
	told := board.Report{
		Instance: "r:{1}", Role: board.Refresher, Version: "1.4.0", Started: noon.Add(-time.Hour), At: noon, Leads: true,
		Missing: []board.Missing{{Name: "redis", Cause: "no answer"}},
		Work: &board.Work{
			Runnable: 1, Held: map[reason.Reason]int{reason.Throttled: 2}, Load: 0.25,
			Top:      []board.TenantWork{{Tenant: "acme", Held: map[reason.Reason]int{reason.Throttled: 2}}},
			LastHour: board.Activity{Promised: freshness(time.Second), Errors: map[reason.Reason]int{reason.Transient: 3}},
		},
	}
	s.put(told)
	s.put(board.Report{Instance: "r:{1}", Role: board.Keeper, At: noon})
	got := s.reports()
	if len(got) != 2 {
		t.Fatalf("%d reports", len(got))
	}
	slices.SortFunc(got, func(a, b board.Report) int { return strings.Compare(string(b.Role), string(a.Role)) })
	if diff := cmp.Diff(told, got[0]); diff != "" {
		t.Error(diff)
	}
}

func freshness(ages ...time.Duration) board.Freshness {
	var f board.Freshness
	for _, age := range ages {
		f.Note(age)
	}
	return f
}

func TestTheLastReportOfAProcessCounts(t *testing.T) {
	s := newStage(t)
	s.put(board.Report{Instance: "a", Role: board.Ingress, At: noon, Version: "1"})
	s.put(board.Report{Instance: "a", Role: board.Ingress, At: noon, Version: "2"})
	if got := s.reports(); len(got) != 1 || got[0].Version != "2" {
		t.Errorf("%+v", got)
	}
}

func TestWhenAProcessWasHeardIsByTheReadersClock(t *testing.T) {
	s := newStage(t)
	s.put(board.Report{Instance: "a", Role: board.Ingress, At: noon.Add(time.Hour)}) // its clock is wrong
	s.wait(7 * time.Second)
	if got := s.reports(); !got[0].At.Equal(noon) {
		t.Errorf("heard at %v, want %v", got[0].At, noon)
	}
}

func TestAProcessIsForgottenInTheEndOrWhenItSaysGoodbye(t *testing.T) {
	s := newStage(t)
	s.put(board.Report{Instance: "crashed", Role: board.Refresher, At: noon})
	s.put(board.Report{Instance: "stopped", Role: board.Refresher, At: noon})
	s.must(s.board.Remove(t.Context(), board.Report{Instance: "stopped", Role: board.Refresher}))
	s.wait(board.ForgottenAfter - time.Second)
	if got := s.reports(); len(got) != 1 || got[0].Instance != "crashed" {
		t.Errorf("%+v", got)
	}
	s.wait(time.Second)
	s.put(board.Report{Instance: "new", Role: board.Refresher, At: s.now})
	if got := s.reports(); len(got) != 1 || got[0].Instance != "new" {
		t.Errorf("%+v", got)
	}
}

func TestTheIndexForgetsNamesThatNobodyBears(t *testing.T) {
	s := newStage(t)
	s.put(board.Report{Instance: "old", Role: board.Refresher, At: noon})
	for range 24 {
		s.wait(time.Hour + time.Millisecond)
		s.put(board.Report{Instance: "new", Role: board.Refresher, At: s.now})
	}
	if names, err := s.server.ZMembers("rollcall:{board}:index"); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

func TestEveryKeyExpires(t *testing.T) {
	s := newStage(t)
	s.put(board.Report{Instance: "a", Role: board.Refresher, At: noon}, asked("acme", noon, 1, 1))
	for _, key := range s.server.Keys() {
		if s.server.TTL(key) <= 0 {
			t.Errorf("%s does not", key)
		}
	}
	if want := 4; len(s.server.Keys()) != want {
		t.Errorf("%v; want %d keys", s.server.Keys(), want)
	}
}

func TestRoundTripsDoNotGrow(t *testing.T) {
	s := newStage(t)
	for i := range 50 {
		tenant := fmt.Sprint("tenant-", i)
		s.put(board.Report{Instance: fmt.Sprint(i), Role: board.Refresher, At: noon}, asked(tenant, noon, 1, 0), asked("all", noon, 1, 0))
	}
	for what, ask := range map[string]struct {
		most int
		do   func() error
	}{
		"a report": {1, func() error {
			return s.board.Put(t.Context(), board.Report{Instance: "x", Role: board.Refresher, At: noon}, []board.TenantMinute{asked("a", noon, 1, 1), asked("b", noon, 1, 1)})
		}},
		"all reports":     {2, func() error { _, err := s.board.Reports(t.Context()); return err }},
		"a day":           {1, func() error { _, err := s.board.Use(t.Context(), "all", noon.Add(-24*time.Hour)); return err }},
		"hottest tenants": {2, func() error { _, err := s.board.Hottest(t.Context(), noon, 10, []string{"one", "two"}); return err }},
	} {
		s.trips = 0
		if err := ask.do(); err != nil || s.trips > ask.most {
			t.Errorf("%s: %d round trips, %v; want %d", what, s.trips, err, ask.most)
		}
	}
}

func TestAReportOfAnotherKindHidesNoOther(t *testing.T) {
	s := newStage(t)
	s.put(board.Report{Instance: "a", Role: board.Refresher, At: noon})
	s.put(board.Report{Instance: "b", Role: board.Refresher, At: noon})
	s.must(s.server.Set("rollcall:{board}:report:refresher:a", `{"instance":7}`))
	if got := s.reports(); len(got) != 1 || got[0].Instance != "b" {
		t.Errorf("%+v", got)
	}
}

func TestWithoutRedisEachSaysSo(t *testing.T) {
	s := newStage(t)
	s.server.Close()
	_, reports := s.board.Reports(t.Context())
	_, use := s.board.Use(t.Context(), "acme", noon)
	_, hottest := s.board.Hottest(t.Context(), noon, 1, nil)
	put, remove := s.board.Put(t.Context(), board.Report{}, nil), s.board.Remove(t.Context(), board.Report{})
	for i, err := range []error{reports, use, hottest, put, remove} {
		if err == nil {
			t.Errorf("%d: no error", i)
		}
	}
	if _, err := redisboard.New(s.client, redisboard.Options{Prefix: "{x}"}); err == nil {
		t.Error("a brace in the prefix")
	}
}
