package quotatest

import (
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

func countOnce(t *testing.T, b Bench) {
	b.seed()
	for range 3 {
		b.count(t, pair, b.addition("x"), quota.Counts{Total: 1, OnDay: 1, Company: 1})
	}
	b.count(t, customer(2), b.addition("y"), quota.Counts{Total: 2, OnDay: 2, Company: 2})
	b.count(t, pair, b.addition("x"), quota.Counts{Total: 2, OnDay: 2, Company: 2}) // what they say then
	b.wantCounters(t, roster.Counters{
		Total: map[string]int{"li.na": 2}, InRound: map[string]int{"li.na": 2},
		Days: map[roster.Day]map[string]int{b.today(): {"li.na": 2}},
	})
	b.wantAdded(t, "li.na", map[roster.Day]int{b.today(): 2})
}

func countApart(t *testing.T, b Bench) {
	b.seed()
	b.PutCode(roster.Code{ID: "code-2", Tenant: "acme", ConfigID: "cfg", Family: roster.Native})
	yesterday := roster.DayOf(b.Now().AddDate(0, 0, -1), time.UTC)
	other, earlier := b.addition("b"), b.addition("c")
	other.Code, earlier.Day = "code-2", yesterday
	wang := pair
	wang.Staff = "wang"
	b.count(t, pair, b.addition("a"), quota.Counts{Total: 1, OnDay: 1, Company: 1})
	b.count(t, pair, other, quota.Counts{Total: 1, OnDay: 1, Company: 2})
	b.count(t, pair, earlier, quota.Counts{Total: 2, OnDay: 1, Company: 1})
	b.count(t, wang, b.addition("d"), quota.Counts{Total: 1, OnDay: 1, Company: 1})
	b.wantCounters(t, roster.Counters{
		Total: map[string]int{"li.na": 2, "wang": 1}, InRound: map[string]int{"li.na": 2, "wang": 1},
		Days: map[roster.Day]map[string]int{b.today(): {"li.na": 1, "wang": 1}, yesterday: {"li.na": 1}},
	})
	b.wantAdded(t, "li.na", map[roster.Day]int{b.today(): 2, yesterday: 1})
	b.wantAdded(t, "wang", map[roster.Day]int{b.today(): 1})
}

func countUnknownStaff(t *testing.T, b Bench) {
	b.seed()
	lina := quota.Pair{Tenant: "acme", Staff: "lina", Customer: "wm-1"} // not li.na
	for range 2 {
		b.count(t, lina, b.addition("x"), quota.Counts{Total: 1, OnDay: 1})
	}
	if _, known := b.Facts(code).Staff["lina"]; known {
		t.Error("counting made a staff member")
	}
	b.wantAdded(t, "li.na", nil)
}

func countRace(t *testing.T, b Bench) {
	b.seed()
	for n := 1; n <= 3; n++ {
		suitetest.Race(t, 16, func(int) (bool, error) {
			counts, err := b.Store.Count(t.Context(), pair, b.addition(fmt.Sprint(n)))
			if want := (quota.Counts{Total: n, OnDay: n, Company: n}); err == nil && counts != want {
				err = fmt.Errorf("counted %+v, want %+v", counts, want)
			}
			return true, err
		})
	}
}

func countRaceOfAdditions(t *testing.T, b Bench) {
	b.seed()
	suitetest.Race(t, 16, func(i int) (bool, error) {
		for range 2 {
			if _, err := b.Store.Count(t.Context(), customer(i), b.addition(fmt.Sprint(i))); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	b.count(t, customer(0), b.addition("0"), quota.Counts{Total: 16, OnDay: 16, Company: 16})
}

func countPrunes(t *testing.T, b Bench) {
	b.seed()
	b.count(t, pair, b.addition("x"), quota.Counts{Total: 1, OnDay: 1, Company: 1})
	later := b.addition("y")
	later.Day = roster.DayOf(b.Now().AddDate(0, 0, DaysKept-1), time.UTC)
	b.count(t, pair, later, quota.Counts{Total: 2, OnDay: 1, Company: 1})
	b.count(t, pair, b.addition("x"), quota.Counts{Total: 2, OnDay: 1, Company: 1})
	later = b.addition("z")
	later.Day = roster.DayOf(b.Now().AddDate(0, 0, DaysKept), time.UTC)
	b.count(t, pair, later, quota.Counts{Total: 3, OnDay: 1, Company: 1})
	b.count(t, pair, b.addition("x"), quota.Counts{Total: 3}) // its day is gone
}

func countNoDay(t *testing.T, b Bench) {
	b.seed()
	for _, day := range []roster.Day{"", "2026-11-30", "20261331"} {
		a := b.addition("x")
		a.Day = day
		if counts, err := b.Store.Count(t.Context(), pair, a); err == nil {
			t.Errorf("Count on day %q = %+v, want an error", day, counts)
		}
	}
	b.wantCounters(t, roster.Counters{})
}

func countForgets(t *testing.T, b Bench) {
	b.seed()
	var done []quota.Counting
	for i := range 3 {
		a := b.addition(fmt.Sprint(i))
		b.count(t, customer(i), a, quota.Counts{Total: i + 1, OnDay: i + 1, Company: i + 1})
		done = append(done, quota.Counting{Pair: customer(i), Addition: a})
	}
	before := b.Facts(code)
	for range 2 {
		b.forget(t, done[:2])
	}
	suitetest.WantSame(t, "facts after forgetting", before, b.Facts(code))
	b.count(t, customer(2), done[2].Addition, quota.Counts{Total: 3, OnDay: 3, Company: 3}) // is remembered
	b.count(t, customer(0), done[0].Addition, quota.Counts{Total: 4, OnDay: 4, Company: 4}) // is not
}

func countForgetsNothing(t *testing.T, b Bench) {
	b.seed()
	unknown := quota.Pair{Tenant: "acme", Staff: "nobody", Customer: "wm-1"}
	b.forget(t, []quota.Counting{{Pair: pair, Addition: b.addition("x")}, {Pair: unknown, Addition: b.addition("y")}})
	b.forget(t, nil)
	b.wantCounters(t, roster.Counters{})
	if _, known := b.Facts(code).Staff["nobody"]; known {
		t.Error("forgetting made a staff member")
	}
}

func countNames(t *testing.T, b Bench) {
	b.seed()
	for _, name := range []string{"a.b", "a%2Eb", "$set", "李娜", "a b", "1"} {
		b.PutStaff("acme", roster.Staff{ID: name})
		who := quota.Pair{Tenant: "acme", Staff: name, Customer: "wm-1"}
		for range 2 {
			b.count(t, who, b.addition(name), quota.Counts{Total: 1, OnDay: 1, Company: 1})
		}
	}
}

// A counter that a producer made, or an earlier one of this package, goes on.
func countRound(t *testing.T, b Bench) {
	b.seed()
	b.count(t, pair, b.addition("x"), quota.Counts{Total: 1, OnDay: 1, Company: 1})
	if counters := b.Facts(code).Counters; counters.Round != 0 || counters.InRound["li.na"] != 1 {
		t.Errorf("counters %+v, want one addition in round 0", counters)
	}
}

// A count on the code alone is what a crash between the two writes leaves.
func countCompletes(t *testing.T, b Bench) {
	b.seed()
	lina := quota.Pair{Tenant: "acme", Staff: "lina", Customer: "wm-1"}
	b.count(t, lina, b.addition("x"), quota.Counts{Total: 1, OnDay: 1})
	b.PutStaff("acme", roster.Staff{ID: "lina"})
	for range 2 {
		b.count(t, lina, b.addition("x"), quota.Counts{Total: 1, OnDay: 1, Company: 1})
	}
}

// count counts an addition and fails unless the counters say what they should.
func (b Bench) count(t *testing.T, pair quota.Pair, a quota.Addition, want quota.Counts) {
	t.Helper()
	got, err := b.Store.Count(t.Context(), pair, a)
	if got != want || err != nil {
		t.Errorf("Count(%v, %s on %s, %s) = %+v, %v; want %+v", pair, a.ID, a.Code, a.Day, got, err, want)
	}
}

func (b Bench) forget(t *testing.T, done []quota.Counting) {
	t.Helper()
	if err := b.Store.Forget(t.Context(), done); err != nil {
		t.Fatalf("Forget: %v", err)
	}
}

func (b Bench) wantCounters(t *testing.T, want roster.Counters) {
	t.Helper()
	suitetest.WantSame(t, "counters", want, b.Facts(code).Counters)
}

func (b Bench) wantAdded(t *testing.T, staff string, want map[roster.Day]int) {
	t.Helper()
	suitetest.WantSame(t, "additions of "+staff, want, b.Facts(code).Staff[staff].Added)
}
