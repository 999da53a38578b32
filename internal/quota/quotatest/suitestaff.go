package quotatest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

func markOnce(t *testing.T, b Bench) {
	b.seed()
	b.mark(t, "li.na", "20261130", "x", "x")
	b.mark(t, "li.na", "20261130", "y", "x")
	b.mark(t, "li.na", "20261130", "x", "x")
	b.mark(t, "wang", "20261130", "z", "z")
	if on := b.staff(t, "li.na").RemovedOn; on != "20261130" {
		t.Errorf("removed on %q", on)
	}
}

func markLater(t *testing.T, b Bench) {
	b.seed()
	b.mark(t, "li.na", "20261130", "x", "x")
	b.mark(t, "li.na", "20261201", "y", "y")
	b.mark(t, "li.na", "20261130", "x", "") // the day is over
	b.mark(t, "li.na", "20261201", "x", "y")
	if on := b.staff(t, "li.na").RemovedOn; on != "20261201" {
		t.Errorf("removed on %q", on)
	}
}

func markByHand(t *testing.T, b Bench) {
	b.seed()
	b.PutStaff("acme", roster.Staff{ID: "wang", RemovedOn: "20261130"})
	b.mark(t, "wang", "20261130", "x", "")
	b.mark(t, "wang", "20261201", "x", "x")
}

func markUnknown(t *testing.T, b Bench) {
	b.seed()
	for range 2 {
		b.mark(t, "lina", "20261130", "x", "")
	}
	b.wantNobody(t, "lina")
}

func markRace(t *testing.T, b Bench) {
	b.seed()
	for n := range 3 {
		day := roster.Day(fmt.Sprint(20261130 + n))
		var told sync.Map
		winners := suitetest.Race(t, 16, func(i int) (bool, error) {
			by := fmt.Sprint("addition-", i)
			winner, err := b.Store.MarkRemoved(t.Context(), "acme", "li.na", day, by)
			told.Store(winner, true)
			return winner == by, err
		})
		if len(winners) != 1 {
			t.Fatalf("winners %v of the mark of %s, want one", winners, day)
		}
		winner := fmt.Sprint("addition-", winners[0])
		b.mark(t, "li.na", day, "another", winner)
		told.Range(func(name, _ any) bool {
			if name != winner {
				t.Errorf("somebody was told that %v won, not %s", name, winner)
			}
			return true
		})
	}
}

func (b Bench) mark(t *testing.T, staff string, day roster.Day, by, want string) {
	t.Helper()
	winner, err := b.Store.MarkRemoved(t.Context(), "acme", staff, day, by)
	if winner != want || err != nil {
		t.Errorf("MarkRemoved of %s on %s by %s = %q, %v; want %q", staff, day, by, winner, err, want)
	}
}

func changeUnknown(t *testing.T, b Bench) {
	b.seed()
	for _, change := range []quota.StaffChange{{Standing: quota.Gone}, {Renamed: "lin"}, {Standing: quota.Active}} {
		change.Tenant, change.Staff, change.At = "acme", "lina", b.instant()
		b.wantStaffing(t, change, quota.Unlisted)
	}
	b.wantNobody(t, "lina")
}

func changeResigns(t *testing.T, b Bench) {
	b.seed()
	b.stand(t, quota.Gone, 0)
	b.wantStaff(t, func(s *roster.Staff) { s.Resigned = true })
	b.stand(t, quota.Active, time.Second)
	b.wantStaff(t, func(*roster.Staff) {})
}

func changeDisables(t *testing.T, b Bench) {
	b.seed()
	b.stand(t, quota.Inactive, 0)
	if until := b.staff(t, "li.na").QuarantinedUntil; until.Before(b.Now().AddDate(5, 0, 0)) {
		t.Errorf("disabled until %v, want for years", until)
	}
	b.stand(t, "", time.Second) // says nothing of it
	if b.staff(t, "li.na").QuarantinedUntil.IsZero() {
		t.Error("a change that says nothing of the standing ended the quarantine")
	}
	b.stand(t, quota.Active, 2*time.Second)
	b.wantStaff(t, func(*roster.Staff) {})
}

func changeRefused(t *testing.T, b Bench) {
	b.seed()
	until := b.instant().Add(time.Hour)
	b.Quarantine("acme", "li.na", until)
	b.stand(t, quota.Active, 0)
	b.wantStaff(t, func(s *roster.Staff) { s.QuarantinedUntil = until })
}

// A push under way may be refused because of him, after his account was
// disabled.
func changeRefusedLater(t *testing.T, b Bench) {
	b.seed()
	b.stand(t, quota.Inactive, 0)
	b.Quarantine("acme", "li.na", b.instant().Add(time.Hour))
	b.stand(t, quota.Active, time.Second)
	if until := b.staff(t, "li.na").QuarantinedUntil; until.After(b.instant().Add(2 * time.Hour)) {
		t.Errorf("out until %v although his account is active again", until)
	}
}

func changeOlder(t *testing.T, b Bench) {
	b.seed()
	b.stand(t, quota.Gone, time.Hour) // far from the next: a second passes while this runs
	for _, older := range []quota.Standing{quota.Active, quota.Inactive} {
		change := quota.StaffChange{Tenant: "acme", Staff: "li.na", Standing: older, At: b.instant().Truncate(time.Second).Add(time.Second)}
		b.wantStaffing(t, change, quota.Outdated)
	}
	b.wantStaff(t, func(s *roster.Staff) { s.Resigned = true })
	b.stand(t, quota.Active, 2*time.Hour)
	b.wantStaff(t, func(*roster.Staff) {})
}

func changeRepeated(t *testing.T, b Bench) {
	b.seed()
	for range 3 {
		b.stand(t, quota.Gone, 0)
	}
	b.wantStaff(t, func(s *roster.Staff) { s.Resigned = true })
	b.stand(t, quota.Active, 0) // of the same second: the last one told
	b.wantStaff(t, func(*roster.Staff) {})
}

func changeDepartment(t *testing.T, b Bench) {
	b.seed()
	b.apply(t, quota.StaffChange{Departments: []int64{1, 2}, At: b.instant()})
	b.wantStaff(t, func(*roster.Staff) {})
}

func changeRenames(t *testing.T, b Bench) {
	b.seed()
	b.PutStaff("acme", roster.Staff{ID: "li.na", Presence: roster.Online, RemovedOn: "20261130"})
	b.count(t, pair, b.addition("x"), quota.Counts{Total: 1, OnDay: 1, Company: 1})
	added := map[roster.Day]int{b.today(): 1}
	for range 2 {
		b.apply(t, quota.StaffChange{Renamed: "lina", At: b.instant()})
	}
	want := roster.Staff{ID: "li.na", Presence: roster.Online, RemovedOn: "20261130", Added: added}
	old := want
	old.Resigned = true
	suitetest.WantSame(t, "the old name", old, b.staff(t, "li.na"))
	want.ID = "lina"
	suitetest.WantSame(t, "the new name", want, b.staff(t, "lina"))
}

func changeRenamesToKnown(t *testing.T, b Bench) {
	b.seed()
	b.PutStaff("acme", roster.Staff{ID: "lina", Presence: roster.OfflineNow})
	b.apply(t, quota.StaffChange{Renamed: "lina", At: b.instant()})
	b.wantStaff(t, func(s *roster.Staff) { s.Resigned = true })
	suitetest.WantSame(t, "the new name", roster.Staff{ID: "lina", Presence: roster.OfflineNow}, b.staff(t, "lina"))
}

// stand tells of li.na's standing, some time after now.
func (b Bench) stand(t *testing.T, standing quota.Standing, after time.Duration) {
	t.Helper()
	b.apply(t, quota.StaffChange{Standing: standing, At: b.instant().Truncate(time.Second).Add(after)})
}

// apply tells of a change of li.na, who is known.
func (b Bench) apply(t *testing.T, change quota.StaffChange) {
	t.Helper()
	change.Tenant, change.Staff = "acme", "li.na"
	b.wantStaffing(t, change, quota.Applied)
}

func (b Bench) wantStaffing(t *testing.T, change quota.StaffChange, want quota.Staffing) {
	t.Helper()
	if got, err := b.Store.Apply(t.Context(), change); got != want || err != nil {
		t.Errorf("Apply(%+v) = %q, %v; want %q", change, got, err, want)
	}
}

func (b Bench) staff(t *testing.T, id string) roster.Staff {
	t.Helper()
	staff, known := b.Facts(code).Staff[id]
	if !known {
		t.Fatalf("staff member %s is not known", id)
	}
	return staff
}

func (b Bench) wantNobody(t *testing.T, id string) {
	t.Helper()
	if staff, known := b.Facts(code).Staff[id]; known {
		t.Errorf("staff member %s was made: %+v", id, staff)
	}
}

// wantStaff fails unless li.na is as she was seeded, but for an edit.
func (b Bench) wantStaff(t *testing.T, edit func(*roster.Staff)) {
	t.Helper()
	want := roster.Staff{ID: "li.na", Presence: roster.Online}
	edit(&want)
	suitetest.WantSame(t, "li.na", want, b.staff(t, "li.na"))
}
