package spottest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// Store is all that is kept of the spot check.
type Store interface {
	spot.Differences
	spot.Days
	spot.Archive
}

// at is an instant without the parts of a millisecond, which stores drop.
var at = time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC)

// TestStore is the contract of a Store. Every test gets an empty one from the
// factory, which cleans up after itself.
func TestStore(t *testing.T, factory func(t *testing.T) Store) {
	suitetest.Run(t, suitetest.Suite[Store]{
		"a difference": {
			"is kept whole":                            whole,
			"is stored only as it was seen":            asSeen,
			"is stored for one of many":                forOne,
			"is listed by page, of a tenant, in state": listed,
		},
		"a day": {
			"counts what many add": counted,
			"is found by its date": since,
		},
	}, factory)
}

func differenceOf(tenant, code string) spot.Difference {
	return spot.Difference{
		Ref: push.Ref{Tenant: tenant, Code: code}, Cause: reason.ForeignEdit, State: spot.Open,
		Ours: spot.Way{Users: []string{"li.na"}}, Theirs: spot.Way{Users: []string{"wang"}}, SeenAt: at, LastSeen: at, Times: 1,
	}
}

func whole(t *testing.T, s Store) {
	d := differenceOf("acme", "c1")
	d.Ours = spot.Way{Users: []string{"li.na", "zhang$"}, Remark: "fair", State: "s", SkipVerify: true}
	d.Theirs = spot.Way{Users: []string{"wang"}, Departments: []int64{7}, Remark: "x", State: "y"}
	d.SinceAtLeast, d.LastSeen, d.AgreedAt = at.Add(-time.Hour), at.Add(time.Minute), at.Add(-time.Minute)
	d.Times, d.VendorCalls = 2, 3
	put(t, s, d)
	d.Version = 1
	want(t, s, d)
	gone := d
	gone.Cause, gone.Theirs, gone.SinceAtLeast, gone.AgreedAt = reason.Gone, spot.Way{}, time.Time{}, time.Time{}
	put(t, s, gone)
	gone.Version = 2
	want(t, s, gone)
	for _, ref := range []push.Ref{{Tenant: "acme", Code: "c2"}, {Tenant: "other", Code: "c1"}} {
		if got, found, err := s.Get(t.Context(), ref); found || err != nil {
			t.Errorf("Get of what nobody stored = %+v, %v, %v", got, found, err)
		}
	}
}

func asSeen(t *testing.T, s Store) {
	d := differenceOf("acme", "c1")
	d.Version = 1
	suitetest.Refused(t, "Put as a later version of nothing")(s.Put(t.Context(), d))
	d.Version = 0
	put(t, s, d)
	suitetest.Refused(t, "Put of what is there as if it were not")(s.Put(t.Context(), d))
	d.Version = 1
	put(t, s, d)
	suitetest.Refused(t, "Put of what was changed since")(s.Put(t.Context(), d))
	d.Version = 2
	want(t, s, d)
}

func forOne(t *testing.T, s Store) {
	for version := range int64(3) {
		winners := suitetest.Race(t, 8, func(i int) (bool, error) {
			d := differenceOf("acme", "c1")
			d.Version, d.Times = version, i+1
			return s.Put(t.Context(), d)
		})
		if len(winners) != 1 {
			t.Errorf("version %d: %d of 8 wrote, want one", version+1, len(winners))
		}
	}
}

func listed(t *testing.T, s Store) {
	for i := range 5 {
		d := differenceOf("acme", fmt.Sprintf("c%d", i))
		if i%2 == 1 {
			d.State = spot.Repaired
		}
		put(t, s, d)
	}
	put(t, s, differenceOf("acme.b", "c0"))
	put(t, s, differenceOf("beta", "c0"))
	for name, test := range map[string]struct {
		which spot.Selection
		limit int
		want  []string
	}{
		"all":                      {spot.Selection{}, 100, []string{"acme/c0", "acme/c1", "acme/c2", "acme/c3", "acme/c4", "acme.b/c0", "beta/c0"}},
		"a page":                   {spot.Selection{Tenant: "acme"}, 2, []string{"acme/c0", "acme/c1"}},
		"the next page":            {spot.Selection{Tenant: "acme", After: push.Ref{Tenant: "acme", Code: "c1"}}, 2, []string{"acme/c2", "acme/c3"}},
		"a state":                  {spot.Selection{State: spot.Repaired}, 100, []string{"acme/c1", "acme/c3"}},
		"a tenant's, in a state":   {spot.Selection{Tenant: "beta", State: spot.Open}, 100, []string{"beta/c0"}},
		"after another's tenant's": {spot.Selection{Tenant: "beta", After: push.Ref{Tenant: "acme", Code: "c4"}}, 100, []string{"beta/c0"}},
		"at least one":             {spot.Selection{Tenant: "beta"}, 0, []string{"beta/c0"}},
		"nobody's":                 {spot.Selection{Tenant: "nobody"}, 100, nil},
	} {
		page, err := s.List(t.Context(), test.which, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range page {
			got = append(got, d.Tenant+"/"+d.Code)
		}
		slices.Sort(got) // of whole tenants: which comes first is the store's
		slices.Sort(test.want)
		suitetest.WantSame(t, name, test.want, got)
	}
}

func counted(t *testing.T, s Store) {
	const adders, times = 4, 5
	var all sync.WaitGroup
	for range adders {
		all.Go(func() {
			for range times {
				if err := s.Add(t.Context(), "acme", "20261130", spot.Tally{Checked: 2, Differ: 1, Skipped: 3, Unsettled: 4}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	const n = adders * times
	wantDays(t, s, "acme", "20261130", spot.TenantDay{
		Tenant: "acme", Day: "20261130", Tally: spot.Tally{Checked: 2 * n, Differ: n, Skipped: 3 * n, Unsettled: 4 * n},
	})
}

func since(t *testing.T, s Store) {
	day := func(tenant string, day roster.Day) spot.TenantDay {
		return spot.TenantDay{Tenant: tenant, Day: day, Tally: spot.Tally{Checked: 1}}
	}
	days := []spot.TenantDay{day("acme", "20261129"), day("acme", "20261130"), day("acme.b", "20261130"), day("beta", "20261201")}
	for _, d := range days {
		if err := s.Add(t.Context(), d.Tenant, d.Day, d.Tally); err != nil {
			t.Fatal(err)
		}
	}
	wantDays(t, s, "", "20261129", days...)
	wantDays(t, s, "", "20261130", days[1:]...)
	wantDays(t, s, "acme", "20261101", days[:2]...)
	wantDays(t, s, "acme", "20261130", days[1])
	wantDays(t, s, "beta", "20261202")
	for _, err := range s.Since(t.Context(), "", "20261101") {
		if err != nil {
			t.Fatal(err)
		}
		break // whoever has enough may stop
	}
}

func put(t *testing.T, s Store, d spot.Difference) {
	t.Helper()
	suitetest.Accepted(t, "Put of "+d.Code)(s.Put(t.Context(), d))
}

func want(t *testing.T, s Store, d spot.Difference) {
	t.Helper()
	got, found, err := s.Get(t.Context(), d.Ref)
	if err != nil || !found {
		t.Fatalf("Get = %v, %v", found, err)
	}
	suitetest.WantSame(t, "difference", d, got)
}

func wantDays(t *testing.T, s Store, tenant string, from roster.Day, days ...spot.TenantDay) {
	t.Helper()
	var got []spot.TenantDay
	for d, err := range s.Since(t.Context(), tenant, from) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d)
	}
	slices.SortFunc(got, func(a, b spot.TenantDay) int {
		return compareRefs(push.Ref{Tenant: a.Tenant, Code: string(a.Day)}, push.Ref{Tenant: b.Tenant, Code: string(b.Day)})
	})
	suitetest.WantSame(t, "days of "+tenant+" since "+string(from), days, got)
}
