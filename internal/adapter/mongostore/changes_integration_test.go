//go:build integration

package mongostore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
)

func TestChangesConform(t *testing.T) {
	pushtest.TestChanges(t, func(t *testing.T) pushtest.ChangesBench {
		w := newWorld(t, time.Now)
		return pushtest.ChangesBench{Store: w.Store(), Changes: changeSet{w.Changes()}, Next: w.nextChange}
	})
}

// A tenant's share of a sweep costs four round trips, however large it is: what
// was left, what is due, the taking and the end.
func TestAShareOfChangesIsFourRoundTrips(t *testing.T) {
	const due, share = 200, 80
	ctx, w := t.Context(), newWorld(t, time.Now)
	now := time.Now().UTC().Truncate(time.Millisecond)
	docs := make([]any, due)
	for i := range docs {
		code := fmt.Sprintf("code-%03d", i)
		docs[i] = bson.D{{Key: "_id", Value: "acme/" + code}, {Key: "tenant", Value: "acme"}, {Key: "code", Value: code}, {Key: "next_change", Value: now}}
	}
	if _, err := w.raw.Collection("records").InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	trips := w.commands.during(func() {
		taken, err := w.Changes().Take(ctx, "acme", now, share)
		if err != nil || len(taken) != share {
			t.Fatalf("Take = %d changes, %v", len(taken), err)
		}
		if n, err := w.Changes().Finish(ctx, taken...); n != share || err != nil {
			t.Errorf("Finish = %d, %v", n, err)
		}
	})
	if diff := cmp.Diff([]string{"find", "find", "update", "update"}, trips); diff != "" {
		t.Errorf("round trips (-want +got):\n%s", diff)
	}
	if again, err := w.Changes().Take(ctx, "acme", now, due); len(again) != due-share || err != nil {
		t.Errorf("%d changes are left, %v; want %d", len(again), err, due-share)
	}
}

// What a refresh costs the store while a change is to come: one that is known
// costs nothing, one that is not costs one write, and a push carries it.
func TestWhatAKnownChangeCosts(t *testing.T) {
	w := newWorld(t, time.Now)
	w.seed(t, acme, 3)
	if err := w.Store().Quarantine(t.Context(), acme.Tenant, "staff-0000", time.Now().Add(time.Hour), "test"); err != nil {
		t.Fatalf("Quarantine: %v", err)
	}
	protocol := w.protocol("cfg")
	reads := slices.Repeat([]string{"find"}, 5)
	facts := reads[:4]
	for _, step := range []struct {
		name string
		want []string
	}{
		{"pushed", slices.Concat(reads, []string{"update"}, facts, []string{"update"})},
		{"unchanged", reads},
		{"unchanged once the keeper took the change", slices.Concat(reads, []string{"update"})},
		{"unchanged again", reads},
	} {
		if step.name == "unchanged once the keeper took the change" {
			if taken, err := w.Changes().Take(t.Context(), acme.Tenant, time.Now().Add(2*time.Hour), 1); len(taken) != 1 || err != nil {
				t.Fatalf("Take = %v, %v; want the end of the quarantine", taken, err)
			}
		}
		var out push.Outcome
		got := w.commands.during(func() { out = protocol.Refresh(t.Context(), acme, func() {}) })
		if _, done := out.(push.Done); !done {
			t.Fatalf("%s: %+v", step.name, out)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: commands (-want +got):\n%s", step.name, diff)
		}
	}
}

// protocol refreshes with everything but the store in memory.
func (w *world) protocol(configID string) *push.Protocol {
	clock := pushtest.NewClock(time.Now())
	vendor := pushtest.NewVendor(clock)
	vendor.AddWay(configID)
	return push.New(push.Ports{
		Store: w.Store(), Rotation: pushtest.NewRotation(), Budget: pushtest.NewBudget(clock), Vendor: vendor, Breaker: open{},
		Shadows: pushtest.NewShadows(),
	}, push.Options{
		Owner: "test", CallTimeout: 5 * time.Second, IntentMargin: 3 * time.Second, ParkAfter: time.Minute, MaxFailures: 3,
		Backoff: push.Backoff{Base: time.Second, Cap: time.Minute}, Now: clock.Now,
	})
}

// open lets every call through.
type open struct{}

func (open) Allow(string) (bool, time.Time) { return true, time.Time{} }

// What is finished leaves nothing in the record: its indexes hold what is to
// come and no more.
func TestAFinishedChangeLeavesNothing(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	ref, now := push.Ref{Tenant: "acme", Code: "c"}, time.Now()
	if ok, err := w.Store().Commit(ctx, ref, push.Committed{}, nil, now); !ok || err != nil {
		t.Fatalf("Commit = %v, %v", ok, err)
	}
	taken, err := w.Changes().Take(ctx, "acme", now, 1)
	if err != nil {
		t.Fatalf("Take: %v", err)
	}
	if _, err := w.Changes().Finish(ctx, taken...); err != nil {
		t.Fatalf("Finish: %v", err)
	}
	var doc bson.M
	if err := w.raw.Collection("records").FindOne(ctx, bson.D{{Key: "_id", Value: "acme/c"}}).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for field := range doc {
		if slices.Contains([]string{"next_change", "taken_change"}, field) {
			t.Errorf("the record still has %s: %v", field, doc[field])
		}
	}
}

func (w *world) nextChange(t *testing.T, ref push.Ref) time.Time {
	t.Helper()
	var doc struct {
		NextChange time.Time `bson:"next_change"`
	}
	filter := bson.D{{Key: "tenant", Value: ref.Tenant}, {Key: "code", Value: ref.Code}}
	if err := w.raw.Collection("records").FindOne(t.Context(), filter).Decode(&doc); err != nil {
		t.Fatalf("read the record of %s: %v", ref.Code, err)
	}
	return doc.NextChange.UTC()
}

// changeSet shows the adapter's changes as the suite's.
type changeSet struct{ *mongostore.Changes }

func (s changeSet) Take(ctx context.Context, tenant string, now time.Time, limit int) ([]pushtest.Change, error) {
	taken, err := s.Changes.Take(ctx, tenant, now, limit)
	var out []pushtest.Change
	for _, change := range taken {
		out = append(out, pushtest.Change(change))
	}
	return out, err
}

func (s changeSet) Finish(ctx context.Context, changes ...pushtest.Change) (int, error) {
	var seen []mongostore.Change
	for _, change := range changes {
		seen = append(seen, mongostore.Change(change))
	}
	return s.Changes.Finish(ctx, seen...)
}

func (s changeSet) Postpone(ctx context.Context, change pushtest.Change, until time.Time) (bool, error) {
	return s.Changes.Postpone(ctx, mongostore.Change(change), until)
}
