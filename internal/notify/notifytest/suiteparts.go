package notifytest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/notify"
)

// pending is a row as it is filed at t0; its ID is its key.
func pending(tenant string, via notify.Via, id string) notify.Delivery {
	return notify.Delivery{
		ID: id, Via: via, FiledAt: t0,
		Notice:   notify.Notice{Key: "key of " + id, Tenant: tenant, Kind: notify.CeilingReachedDay, At: t0.Add(-time.Second)},
		Progress: notify.Progress{State: notify.Pending, Due: t0, At: t0},
	}
}

func claimed(row notify.Delivery, owner string, attempt int) notify.Progress {
	p := row.Progress
	p.State, p.Owner, p.Attempt, p.Due, p.PoolDay = notify.InProgress, owner, attempt, t0.Add(time.Minute), day
	return p
}

func ended(row notify.Delivery, state notify.State) notify.Progress {
	p := row.Progress
	p.State, p.Owner, p.Due = state, "", time.Time{}
	return p
}

// settled is a row that came into a state at an instant.
func settled(t *testing.T, s Store, id string, state notify.State, at time.Time) {
	t.Helper()
	row := pending("acme", notify.ViaWebhook, id)
	create(t, s, row)
	p := row.Progress
	switch state {
	case notify.Success, notify.Failed, notify.Held:
		p = ended(row, state)
	case notify.Pending, notify.InProgress, notify.Sending:
		p.State = state
	}
	p.At = at
	move(t, s, row, p)
}

func create(t *testing.T, s Store, rows ...notify.Delivery) {
	t.Helper()
	for _, row := range rows {
		if ok, err := s.Create(t.Context(), row); !ok || err != nil {
			t.Fatalf("Create of %s = %v, %v; want true", row.ID, ok, err)
		}
	}
}

func move(t *testing.T, s Store, seen notify.Delivery, next notify.Progress) {
	t.Helper()
	if ok, err := s.Move(t.Context(), seen, next); !ok || err != nil {
		t.Fatalf("Move of %s to %s = %v, %v; want true", seen.ID, next.State, ok, err)
	}
}

func want(t *testing.T, s Store, row notify.Delivery) {
	t.Helper()
	got, found, err := s.Get(t.Context(), row.Notice.Tenant, row.ID)
	if diff := cmp.Diff(row, got); diff != "" || !found || err != nil {
		t.Errorf("the row: %v, %v\n%s", found, err, diff)
	}
}

func wantDue(t *testing.T, s Store, at time.Time, limit int, rows ...notify.Delivery) {
	t.Helper()
	got, err := s.Due(t.Context(), notify.Lane{Tenant: "acme", Via: notify.ViaWebhook}, at, limit)
	if diff := cmp.Diff(rows, got); (diff != "" && len(rows)+len(got) > 0) || err != nil {
		t.Errorf("due: %v\n%s", err, diff)
	}
}

// paid and exhausted debit a delivery and expect the pool to have had, or not to
// have had, one for it.
func paid(t *testing.T, s Store, id string, limit int) {
	t.Helper()
	if ok, err := s.Debit(t.Context(), "acme", day, id, limit); !ok || err != nil {
		t.Errorf("Debit of %s = %v, %v; want true", id, ok, err)
	}
}

func exhausted(t *testing.T, s Store, id string, limit int) {
	t.Helper()
	if ok, err := s.Debit(t.Context(), "acme", day, id, limit); ok || err != nil {
		t.Errorf("Debit of %s = %v, %v; want false", id, ok, err)
	}
}

func wantSpent(t *testing.T, s Store, want int) {
	t.Helper()
	if n, err := s.Spent(t.Context(), "acme", day); n != want || err != nil {
		t.Errorf("Spent = %d, %v; want %d", n, err, want)
	}
}

func wantBacklog(t *testing.T, s Store, want notify.Backlog) {
	t.Helper()
	got, err := s.Backlog(t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Backlog: %v\n%s", err, diff)
	}
}
