package notifytest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

const day = roster.Day("20260302")

var t0 = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)

// TestStore is the contract of a Store. Every subtest gets an empty one from
// the factory, which cleans up after itself.
func TestStore(t *testing.T, factory func(t *testing.T) Store) {
	tests := map[string]func(t *testing.T, s Store){
		"keeps what was created, all of it":             created,
		"creates a row once, also from many at once":    createdOnce,
		"moves a row only as it was seen":               movedAsSeen,
		"moves a row for one of many":                   movedForOne,
		"does not move what is not there":               notMoved,
		"finds the lanes and rows that are due":         dueRows,
		"finds what an owner left behind":               leftBehind,
		"finds held rows, the earliest filed first":     heldRows,
		"debits a pool up to its limit":                 debited,
		"debits a delivery once":                        debitedOnce,
		"debits from many at once what there is":        debitedByMany,
		"keeps the pools of tenants and days apart":     poolsApart,
		"lists rows by page, of a tenant, in a state":   listed,
		"tells the oldest and how many are held":        backlog,
		"prunes what ended, and the pools of past days": pruned,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, factory(t))
		})
	}
}

func created(t *testing.T, s Store) {
	row := pending("acme", notify.ViaWebhook, "k1")
	row.Notice.Code, row.Notice.Staff, row.Notice.Day = "c1", "zhang.san$", day
	row.Notice.Count, row.Notice.Limit = 21, 20
	create(t, s, row)
	want(t, s, row)
	full := notify.Progress{
		State: notify.Sending, Attempt: 3, Owner: "keeper-1", Due: t0.Add(time.Minute), Tries: 2,
		PoolDay: day, Paid: true, Cause: reason.Transient, Detail: "http 503", At: t0.Add(time.Second),
	}
	move(t, s, row, full)
	row.Progress = full
	want(t, s, row)
	if got, found, err := s.Get(t.Context(), "acme", "another"); found || err != nil {
		t.Errorf("Get of a row that nobody created = %+v, %v, %v", got, found, err)
	}
	if got, found, err := s.Get(t.Context(), "another", row.ID); found || err != nil {
		t.Errorf("Get of another tenant's row = %+v, %v, %v", got, found, err)
	}
}

func createdOnce(t *testing.T, s Store) {
	var winners atomic.Int32
	var creating sync.WaitGroup
	row := pending("acme", notify.ViaRobot, "k1")
	for range 8 {
		creating.Go(func() {
			if ok, err := s.Create(t.Context(), row); err != nil {
				t.Error(err)
			} else if ok {
				winners.Add(1)
			}
		})
	}
	creating.Wait()
	if n := winners.Load(); n != 1 {
		t.Errorf("%d of 8 created it", n)
	}
	moved := row.Progress
	moved.State, moved.Due = notify.Success, time.Time{}
	move(t, s, row, moved)
	if ok, err := s.Create(t.Context(), row); ok || err != nil {
		t.Errorf("Create of a row that has come to its end = %v, %v; want false", ok, err)
	}
	row.Progress = moved
	want(t, s, row)
}

func movedAsSeen(t *testing.T, s Store) {
	row := pending("acme", notify.ViaWebhook, "k1")
	create(t, s, row)
	mine := claimed(row, "a", 1)
	for name, change := range map[string]func(*notify.Delivery){
		"in another state":       func(d *notify.Delivery) { d.State = notify.InProgress },
		"after another attempt":  func(d *notify.Delivery) { d.Attempt = 1 },
		"with an owner":          func(d *notify.Delivery) { d.Owner = "a" },
		"under another tenant":   func(d *notify.Delivery) { d.Notice.Tenant = "other" },
		"under another identity": func(d *notify.Delivery) { d.ID = "other" },
	} {
		seen := row
		change(&seen)
		if ok, err := s.Move(t.Context(), seen, mine); ok || err != nil {
			t.Errorf("Move of a row seen %s = %v, %v; want false", name, ok, err)
		}
	}
	want(t, s, row)
	// What is not part of the condition may be out of date.
	stale := row
	stale.Detail, stale.Due = "of the past", t0.Add(time.Hour)
	move(t, s, stale, mine)
	row.Progress = mine
	want(t, s, row)
	stolen := row
	stolen.Owner = "b"
	if ok, err := s.Move(t.Context(), stolen, claimed(row, "b", 2)); ok || err != nil {
		t.Errorf("Move of another owner's row = %v, %v; want false", ok, err)
	}
}

func movedForOne(t *testing.T, s Store) {
	row := pending("acme", notify.ViaWebhook, "k1")
	create(t, s, row)
	var winners atomic.Int32
	var moving sync.WaitGroup
	for i := range 8 {
		moving.Go(func() {
			if ok, err := s.Move(t.Context(), row, claimed(row, fmt.Sprint("owner-", i), 1)); err != nil {
				t.Error(err)
			} else if ok {
				winners.Add(1)
			}
		})
	}
	moving.Wait()
	if n := winners.Load(); n != 1 {
		t.Errorf("%d of 8 claimed it", n)
	}
}

func notMoved(t *testing.T, s Store) {
	row := pending("acme", notify.ViaWebhook, "k1")
	if ok, err := s.Move(t.Context(), row, claimed(row, "a", 1)); ok || err != nil {
		t.Errorf("Move = %v, %v; want false", ok, err)
	}
	if _, found, err := s.Get(t.Context(), "acme", row.ID); found || err != nil {
		t.Errorf("Move created a row (%v)", err)
	}
}

func dueRows(t *testing.T, s Store) {
	second := pending("acme", notify.ViaWebhook, "second")
	first := pending("acme", notify.ViaWebhook, "first")
	first.Due = t0.Add(-time.Minute)
	later := pending("acme", notify.ViaWebhook, "later")
	later.Due = t0.Add(time.Millisecond)
	other := pending("acme", notify.ViaRobot, "other")
	strange := pending("a.b:c-d_e", notify.ViaRobot, "strange")
	create(t, s, second, first, later, other, strange)

	lanes, err := s.DueLanes(t.Context(), t0)
	slices.SortFunc(lanes, func(a, b notify.Lane) int { return strings.Compare(a.Tenant+string(a.Via), b.Tenant+string(b.Via)) })
	wantLanes := []notify.Lane{{Tenant: "a.b:c-d_e", Via: notify.ViaRobot}, {Tenant: "acme", Via: notify.ViaRobot}, {Tenant: "acme", Via: notify.ViaWebhook}}
	if diff := cmp.Diff(wantLanes, lanes); diff != "" || err != nil {
		t.Errorf("DueLanes: %v\n%s", err, diff)
	}
	wantDue(t, s, t0, 10, first, second)
	wantDue(t, s, t0, 1, first)
	wantDue(t, s, t0.Add(time.Millisecond), 10, first, second, later)
	for _, row := range []notify.Delivery{first, second} {
		move(t, s, row, ended(row, notify.Success))
	}
	wantDue(t, s, t0, 10)
}

func leftBehind(t *testing.T, s Store) {
	row := pending("acme", notify.ViaWebhook, "k1")
	create(t, s, row)
	mine := claimed(row, "a", 1)
	move(t, s, row, mine)
	row.Progress = mine
	wantDue(t, s, mine.Due.Add(-time.Millisecond), 10)
	wantDue(t, s, mine.Due, 10, row)
}

func heldRows(t *testing.T, s Store) {
	var rows []notify.Delivery
	for i, name := range []string{"c", "a", "b"} {
		row := pending("acme", notify.ViaWebhook, name)
		row.FiledAt = t0.Add(time.Duration(i) * time.Second)
		create(t, s, row)
		move(t, s, row, ended(row, notify.Held))
		row.Progress = ended(row, notify.Held)
		rows = append(rows, row)
	}
	create(t, s, pending("calm", notify.ViaWebhook, "k"))
	tenants, err := s.HeldTenants(t.Context())
	if diff := cmp.Diff([]string{"acme"}, tenants); diff != "" || err != nil {
		t.Errorf("HeldTenants: %v\n%s", err, diff)
	}
	got, err := s.Held(t.Context(), "acme", 2)
	if diff := cmp.Diff(rows[:2], got); diff != "" || err != nil {
		t.Errorf("Held: %v\n%s", err, diff)
	}
	wantDue(t, s, t0.AddDate(1, 0, 0), 10)
	back := rows[0].Progress
	back.State, back.Due = notify.Pending, t0
	move(t, s, rows[0], back)
	rows[0].Progress = back
	wantDue(t, s, t0, 10, rows[0])
	if got, err := s.Held(t.Context(), "acme", 10); len(got) != 2 || err != nil {
		t.Errorf("Held after one went on: %d rows, %v; want 2", len(got), err)
	}
}

func debited(t *testing.T, s Store) {
	wantSpent(t, s, 0)
	paid(t, s, "id-0", 2)
	paid(t, s, "id-1", 2)
	exhausted(t, s, "id-2", 2)
	exhausted(t, s, "id-3", 2)
	wantSpent(t, s, 2)
	paid(t, s, "id-2", 3) // the limit was raised
	exhausted(t, s, "id-3", 1)
	wantSpent(t, s, 3)
}

func debitedOnce(t *testing.T, s Store) {
	for range 3 {
		paid(t, s, "id-0", 2)
	}
	wantSpent(t, s, 1)
	paid(t, s, "id-1", 2)
	paid(t, s, "id-0", 2) // also when nothing is left
	paid(t, s, "id-0", 1) // and when the limit was lowered
	wantSpent(t, s, 2)
}

func debitedByMany(t *testing.T, s Store) {
	const limit, many = 5, 12
	var took atomic.Int32
	var debiting sync.WaitGroup
	for i := range many {
		debiting.Go(func() {
			id := fmt.Sprint("id-", i)
			first, err := s.Debit(t.Context(), "acme", day, id, limit)
			if err != nil {
				t.Error(err)
			}
			if again, err := s.Debit(t.Context(), "acme", day, id, limit); err != nil || again != first {
				t.Errorf("Debit = %v, and once more %v, %v", first, again, err)
			}
			if first {
				took.Add(1)
			}
		})
	}
	debiting.Wait()
	if n := took.Load(); n != limit {
		t.Errorf("%d of %d took one of %d", n, many, limit)
	}
	wantSpent(t, s, limit)
}

func poolsApart(t *testing.T, s Store) {
	paid(t, s, "id-0", 1)
	for _, other := range []struct {
		tenant string
		day    roster.Day
	}{{"acme", "20260303"}, {"calm", day}} {
		if ok, err := s.Debit(t.Context(), other.tenant, other.day, "id-1", 1); !ok || err != nil {
			t.Errorf("Debit of %v = %v, %v; want true", other, ok, err)
		}
	}
	wantSpent(t, s, 1)
}

func listed(t *testing.T, s Store) {
	var rows []notify.Delivery
	for _, tenant := range []string{"acme", "calm"} {
		for i := range 3 {
			row := pending(tenant, notify.ViaWebhook, fmt.Sprint("id-", i))
			create(t, s, row)
			rows = append(rows, row)
		}
	}
	move(t, s, rows[1], ended(rows[1], notify.Failed))
	rows[1].Progress = ended(rows[1], notify.Failed)
	for name, tc := range map[string]struct {
		which notify.Selection
		limit int
		want  []notify.Delivery
	}{
		"all":                        {notify.Selection{}, 10, rows},
		"a page":                     {notify.Selection{}, 4, rows[:4]},
		"the next one":               {notify.Selection{AfterTenant: "calm", AfterID: "id-0"}, 4, rows[4:]},
		"of a tenant":                {notify.Selection{Tenant: "acme"}, 10, rows[:3]},
		"of a tenant, the next page": {notify.Selection{Tenant: "acme", AfterTenant: "acme", AfterID: "id-1"}, 10, rows[2:3]},
		"of nobody":                  {notify.Selection{Tenant: "acm"}, 10, nil},
		"in a state":                 {notify.Selection{State: notify.Failed}, 10, rows[1:2]},
		"in a state, of another":     {notify.Selection{State: notify.Failed, Tenant: "calm"}, 10, nil},
	} {
		got, err := s.List(t.Context(), tc.which, tc.limit)
		if diff := cmp.Diff(tc.want, got); (diff != "" && len(tc.want)+len(got) > 0) || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func backlog(t *testing.T, s Store) {
	wantBacklog(t, s, notify.Backlog{})
	old, young, done := pending("acme", notify.ViaWebhook, "old"), pending("acme", notify.ViaRobot, "young"), pending("calm", notify.ViaRobot, "done")
	old.FiledAt, young.FiledAt, done.FiledAt = t0.Add(-time.Hour), t0, t0.Add(-time.Minute)
	create(t, s, old, young, done)
	wantBacklog(t, s, notify.Backlog{Oldest: old.FiledAt})
	move(t, s, done, ended(done, notify.Success))
	move(t, s, old, ended(old, notify.Held))
	wantBacklog(t, s, notify.Backlog{Oldest: young.FiledAt, Held: 1})
	move(t, s, young, ended(young, notify.Failed))
	wantBacklog(t, s, notify.Backlog{Held: 1})
}

func pruned(t *testing.T, s Store) {
	old, young := t0.AddDate(0, 0, -31), t0.AddDate(0, 0, -29)
	var kept []string
	for _, state := range notify.States() {
		settled(t, s, "old-"+string(state), state, old)
		settled(t, s, "young-"+string(state), state, young)
		kept = append(kept, "young-"+string(state))
		if state != notify.Success && state != notify.Failed {
			kept = append(kept, "old-"+string(state))
		}
	}
	for _, d := range []roster.Day{"20260129", "20260130", "20260131", day} {
		if ok, err := s.Debit(t.Context(), "acme", d, "id", 1); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if n, err := s.Prune(t.Context(), t0.AddDate(0, 0, -30)); n != 2 || err != nil {
		t.Errorf("Prune = %d, %v; want 2", n, err)
	}
	rows, err := s.List(t.Context(), notify.Selection{}, 100)
	var left []string
	for _, row := range rows {
		left = append(left, row.ID)
	}
	slices.Sort(kept)
	if diff := cmp.Diff(kept, left); diff != "" || err != nil {
		t.Errorf("left: %v\n%s", err, diff)
	}
	// 30 days before t0 are 2026-01-31 04:00 UTC: the 30th is not over at UTC-12.
	for d, want := range map[roster.Day]int{"20260129": 0, "20260130": 1, "20260131": 1, day: 1} {
		if n, err := s.Spent(t.Context(), "acme", d); n != want || err != nil {
			t.Errorf("Spent on %s = %d, %v; want %d", d, n, err, want)
		}
	}
}
