package pushtest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// ChangeSet is what a keeper does with the next changes of records.
type ChangeSet interface {
	DueTenants(ctx context.Context, now time.Time) ([]string, error)
	Take(ctx context.Context, tenant string, now time.Time, limit int) ([]Change, error)
	Finish(ctx context.Context, changes ...Change) (int, error)
	Postpone(ctx context.Context, change Change, until time.Time) (bool, error)
}

// ChangesBench is a ChangeSet under test and the store that its records are in.
type ChangesBench struct {
	Store   push.Store
	Changes ChangeSet
	// Next returns the NextChange of a code's record.
	Next func(t *testing.T, ref push.Ref) time.Time
}

// TestChanges is the contract between a store's records and the keeper that
// publishes their changes. Every subtest gets an empty store from the factory,
// which cleans up after itself.
func TestChanges(t *testing.T, factory func(t *testing.T) ChangesBench) {
	for name, test := range map[string]func(t *testing.T, b ChangesBench){
		"are found when they are due, the earliest first": changesDue,
		"are found of each tenant":                        changesTenants,
		"are out of sight once they are taken":            changesOutOfSight,
		"that are expected meanwhile stay":                changesMeanwhile,
		"are taken again until they are finished":         changesAgain,
		"that are brought forward while they are taken":   changesForward,
		"are finished by who took them last":              changesLast,
		"are put off":                                     changesPutOff,
		"are nobody's when there are none":                changesNone,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, factory(t))
		})
	}
}

var changed = time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC) // midnight in Shanghai

func changesDue(t *testing.T, b ChangesBench) {
	for code, at := range map[string]time.Duration{"b": -time.Hour, "a": -time.Minute, "c": 0, "later": time.Millisecond} {
		b.expect(t, push.Ref{Tenant: "acme", Code: code}, changed.Add(at))
	}
	b.expect(t, push.Ref{Tenant: "globex", Code: "a"}, changed.Add(-time.Hour))
	b.wantTaken(t, 2, "b", "a")
	b.wantTaken(t, 9, "b", "a", "c")
	if n := len(b.take(t, "globex", 9)); n != 1 {
		t.Errorf("%d changes of the other tenant, want 1", n)
	}
}

func changesTenants(t *testing.T, b ChangesBench) {
	for tenant, at := range map[string]time.Duration{"now": 0, "long ago": -time.Hour, "not yet": time.Minute, "taken": -time.Minute, "done": -time.Minute} {
		b.expect(t, push.Ref{Tenant: tenant, Code: "c1"}, changed.Add(at))
	}
	b.expect(t, push.Ref{Tenant: "now", Code: "c2"}, changed)
	b.take(t, "taken", 9)
	b.finish(t, b.take(t, "done", 9))
	want := map[string]bool{"now": true, "long ago": true, "taken": true}
	tenants, err := b.Changes.DueTenants(t.Context(), changed)
	if err != nil {
		t.Fatalf("DueTenants: %v", err)
	}
	got := map[string]bool{}
	for _, tenant := range tenants {
		got[tenant] = true
	}
	if diff := cmp.Diff(want, got); diff != "" || len(tenants) != len(want) {
		t.Errorf("tenants %v (-want +got):\n%s", tenants, diff)
	}
}

// A refresh that loads a record after its change was taken has to expect the
// next one, and its event is still to come.
func changesOutOfSight(t *testing.T, b ChangesBench) {
	b.expect(t, acme, changed)
	taken := b.take(t, "acme", 9)
	if len(taken) != 1 || !taken[0].At.Equal(changed) || taken[0].Version == "" {
		t.Fatalf("taken %+v, want the change", taken)
	}
	b.wantNext(t, acme, time.Time{})
	b.finish(t, taken)
	b.wantTaken(t, 9)
}

func changesMeanwhile(t *testing.T, b ChangesBench) {
	b.expect(t, acme, changed)
	taken := b.take(t, "acme", 9)
	b.expect(t, acme, changed.Add(time.Hour))
	b.finish(t, taken)
	b.wantNext(t, acme, changed.Add(time.Hour))
}

// A keeper that died between the taking and the event leaves it to the next
// one, ahead of what has become due since.
func changesAgain(t *testing.T, b ChangesBench) {
	b.expect(t, push.Ref{Tenant: "acme", Code: "left"}, changed)
	first := b.take(t, "acme", 9)
	b.expect(t, push.Ref{Tenant: "acme", Code: "due"}, changed.Add(-time.Hour))
	b.wantTaken(t, 1, "left")
	b.wantTaken(t, 9, "left", "due")
	b.finish(t, first)
	b.wantTaken(t, 9, "due")
}

// The same instant may be expected again while it is taken, by a process whose
// clock is behind. It is another change then, and not finished with the first.
func changesForward(t *testing.T, b ChangesBench) {
	b.expect(t, acme, changed)
	first := b.take(t, "acme", 9)
	b.expect(t, acme, changed)
	second := b.take(t, "acme", 9)
	if n := b.finish(t, first); n != 0 {
		t.Errorf("the first taking has finished %d changes of the second", n)
	}
	b.wantNext(t, acme, time.Time{})
	if n := b.finish(t, second); n != 1 {
		t.Errorf("finished %d changes, want 1", n)
	}
	b.wantTaken(t, 9)
}

func changesLast(t *testing.T, b ChangesBench) {
	b.expect(t, acme, changed)
	taken := b.take(t, "acme", 9)
	stale := Change{Ref: acme, Version: "another"}
	if n := b.finish(t, []Change{stale}); n != 0 {
		t.Errorf("finished %d changes of another version", n)
	}
	if put, err := b.Changes.Postpone(t.Context(), stale, changed.Add(time.Hour)); put || err != nil {
		t.Errorf("Postpone of another version = %v, %v; want false", put, err)
	}
	b.wantTaken(t, 9, acme.Code)
	b.finish(t, taken)
	if n := b.finish(t, taken); n != 0 {
		t.Errorf("finished %d changes for a second time", n)
	}
}

func changesPutOff(t *testing.T, b ChangesBench) {
	b.expect(t, acme, changed)
	taken := b.take(t, "acme", 9)
	if put, err := b.Changes.Postpone(t.Context(), taken[0], changed.Add(time.Hour)); !put || err != nil {
		t.Fatalf("Postpone = %v, %v; want true", put, err)
	}
	b.wantTaken(t, 9)
	if n := b.finish(t, taken); n != 0 {
		t.Errorf("what was put off was finished")
	}
	again, err := b.Changes.Take(t.Context(), "acme", changed.Add(time.Hour), 9)
	if err != nil || len(again) != 1 {
		t.Errorf("Take an hour later = %v, %v; want the change", again, err)
	}
}

func changesNone(t *testing.T, b ChangesBench) {
	b.wantTaken(t, 9)
	if n := b.finish(t, nil); n != 0 {
		t.Errorf("finished %d changes of none", n)
	}
	if tenants, err := b.Changes.DueTenants(t.Context(), changed); len(tenants) != 0 || err != nil {
		t.Errorf("DueTenants = %v, %v; want none", tenants, err)
	}
}

// expect lets a pushed code's record expect a change.
func (b ChangesBench) expect(t *testing.T, ref push.Ref, at time.Time) {
	t.Helper()
	_, err := b.Store.Begin(t.Context(), ref, 0, push.Intent{Epoch: 1})
	if err != nil {
		t.Fatalf("Begin: %v", err)
	}
	if ok, err := b.Store.Commit(t.Context(), ref, push.Committed{Epoch: 1, Members: []string{"li.na"}}, []int64{1}, at); !ok || err != nil {
		t.Fatalf("Commit = %v, %v; want true", ok, err)
	}
}

func (b ChangesBench) take(t *testing.T, tenant string, limit int) []Change {
	t.Helper()
	taken, err := b.Changes.Take(t.Context(), tenant, changed, limit)
	if err != nil {
		t.Fatalf("Take: %v", err)
	}
	return taken
}

func (b ChangesBench) wantTaken(t *testing.T, limit int, codes ...string) {
	t.Helper()
	var got []string
	for _, change := range b.take(t, "acme", limit) {
		got = append(got, change.Code)
	}
	if diff := cmp.Diff(codes, got); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

func (b ChangesBench) finish(t *testing.T, changes []Change) int {
	t.Helper()
	n, err := b.Changes.Finish(t.Context(), changes...)
	if err != nil {
		t.Fatalf("Finish: %v", err)
	}
	return n
}

// wantNext looks at what a refresh sees.
func (b ChangesBench) wantNext(t *testing.T, ref push.Ref, want time.Time) {
	t.Helper()
	if got := b.Next(t, ref); !got.Equal(want) {
		t.Errorf("refreshes see a change at %v, want %v", got, want)
	}
}
