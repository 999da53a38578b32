//go:build integration

package mongostore_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// The number of round trips does not depend on the number of members: one find
// for each of record, code, counters and tenant, and one for all the staff,
// without a getMore.
func TestRoundTrips(t *testing.T) {
	ref := push.Ref{Tenant: "acme", Code: "c"}
	for _, members := range []int{1, 100, 300, 1500} {
		t.Run(fmt.Sprintf("%d members", members), func(t *testing.T) {
			ctx, w := t.Context(), newWorld(t, time.Now)
			w.seed(t, ref, members)
			s := w.Store()
			steps := []struct {
				name string
				run  func() error
				want []string
			}{
				{"load", func() error { _, _, err := s.Load(ctx, ref); return err }, []string{"find", "find", "find", "find", "find"}},
				{"facts", func() error { _, err := s.Facts(ctx, ref); return err }, []string{"find", "find", "find", "find"}},
				{"begin", func() error { _, err := s.Begin(ctx, ref, 0, push.Intent{Epoch: 1}); return err }, []string{"update"}},
				{"commit", func() error {
					_, err := s.Commit(ctx, ref, push.Committed{Epoch: 1, Members: []string{"a"}}, []int64{1}, time.Time{})
					return err
				}, []string{"update"}},
			}
			for _, step := range steps {
				var err error
				got := w.commands.during(func() { err = step.run() })
				if err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
				if !slices.Equal(got, step.want) {
					t.Errorf("%s sent %v, want %v", step.name, got, step.want)
				}
			}
			// MongoDB's first batch holds 101 documents unless it is told
			// otherwise, and a full batch leaves a cursor open.
			if got := w.commands.staffBatch; got <= members {
				t.Errorf("a batch of %d for %d staff: another round trip on MongoDB", got, members)
			}
		})
	}
}

// What a Load carries over the wire does not grow with the history.
func TestLoadLeavesTheHistoryBehind(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 11, 30, 17, 0, 0, 0, time.UTC) // 1 December in Shanghai
	w := newWorld(t, func() time.Time { return now })
	ref := push.Ref{Tenant: "acme", Code: "c"}
	w.seed(t, ref, 1)
	for ago := range 5 {
		day := roster.DayOf(now.AddDate(0, 0, 1-ago), time.UTC)
		if err := w.Facts().CountAddition(ctx, mongostore.Addition{Ref: ref, Staff: "staff-0000", Day: day}); err != nil {
			t.Fatalf("CountAddition: %v", err)
		}
	}
	facts, err := w.Store().Facts(ctx, ref)
	if err != nil {
		t.Fatalf("Facts: %v", err)
	}
	for _, day := range []roster.Day{"20261129", "20261130", "20261201"} {
		if facts.Counters.Days[day]["staff-0000"] != 1 || facts.Staff["staff-0000"].Added[day] != 1 {
			t.Errorf("the additions of %s are missing", day)
		}
	}
	if got := len(facts.Counters.Days) + len(facts.Staff["staff-0000"].Added); got != 6 {
		t.Errorf("%d days were read, want three of the code and three of the staff member", got)
	}
	if total := facts.Counters.Total["staff-0000"]; total != 5 {
		t.Errorf("total %d, want all 5", total)
	}
}

// TestRefreshReads prints what the reads of one refresh cost: a Load and the
// Facts of the second read, with 100 members.
func TestRefreshReads(t *testing.T) {
	const refreshes = 200
	ctx := t.Context()
	w := newWorld(t, time.Now)
	ref := push.Ref{Tenant: "acme", Code: "c"}
	w.seed(t, ref, 100)
	s := w.Store()
	var took []time.Duration
	for range refreshes {
		start := time.Now()
		if _, _, err := s.Load(ctx, ref); err != nil {
			t.Fatalf("Load: %v", err)
		}
		if _, err := s.Facts(ctx, ref); err != nil {
			t.Fatalf("Facts: %v", err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	t.Logf("reads of a refresh with 100 members: p50 %d µs, p95 %d µs, p99 %d µs",
		took[refreshes/2].Microseconds(), took[refreshes*95/100].Microseconds(), took[refreshes*99/100].Microseconds())
}

// seed writes a tenant, a code and its members, named staff-0000 and so on.
func (w *world) seed(t testing.TB, ref push.Ref, members int) {
	t.Helper()
	ctx, facts := t.Context(), w.Facts()
	code := roster.Code{ID: ref.Code, Tenant: ref.Tenant, ConfigID: "cfg", Family: roster.Native}
	var staff []roster.Staff
	for i := range members {
		id := fmt.Sprintf("staff-%04d", i)
		code.Members = append(code.Members, roster.Member{Staff: id, DailyLimit: 20})
		staff = append(staff, roster.Staff{ID: id, Schedule: officeHours()})
	}
	if err := facts.PutTenant(ctx, roster.Tenant{ID: ref.Tenant, TimeZone: "Asia/Shanghai"}); err != nil {
		t.Fatalf("PutTenant: %v", err)
	}
	if err := facts.PutStaff(ctx, ref.Tenant, staff...); err != nil {
		t.Fatalf("PutStaff: %v", err)
	}
	if err := facts.PutCodes(ctx, code); err != nil {
		t.Fatalf("PutCodes: %v", err)
	}
}

func officeHours() *roster.Schedule {
	var s roster.Schedule
	for day := time.Monday; day <= time.Friday; day++ {
		s.Weekly[day] = []roster.Shift{{From: 9 * 60, To: 12 * 60}, {From: 13 * 60, To: 18 * 60}}
	}
	return &s
}
