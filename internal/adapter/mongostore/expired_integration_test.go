//go:build integration

package mongostore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// A record is found for an intent within the bounds, whatever others it has
// beside that one.
func TestExpired(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	s, now := w.Store(), time.Now().UTC().Truncate(time.Millisecond)
	for code, deadlines := range map[string][]time.Duration{
		"none": nil, "earlier": {-2 * time.Hour}, "at from": {-time.Hour}, "within": {-time.Minute}, "at before": {0}, "later": {time.Hour},
		"earlier and within": {-2 * time.Hour, -time.Minute}, "around but not within": {-2 * time.Hour, time.Hour}, "twice within": {-2 * time.Minute, -time.Minute},
	} {
		ref := push.Ref{Tenant: "acme", Code: code}
		for i, d := range deadlines {
			epoch := int64(i)
			if ok, err := s.Begin(ctx, ref, epoch, push.Intent{Epoch: epoch + 1, Deadline: now.Add(d)}); !ok || err != nil {
				t.Fatalf("Begin: %v, %v", ok, err)
			}
		}
	}
	want := []string{"at from", "earlier and within", "twice within", "within"}
	if diff := cmp.Diff(want, expired(t, s.Expired(ctx, now.Add(-time.Hour), now))); diff != "" {
		t.Errorf("expired within the hour (-want +got):\n%s", diff)
	}
	want = append(want, "earlier", "around but not within")
	slices.Sort(want)
	if diff := cmp.Diff(want, expired(t, s.Expired(ctx, time.Time{}, now))); diff != "" {
		t.Errorf("expired ever (-want +got):\n%s", diff)
	}
}

// Any number comes in batches, and of a record no more than whose it is.
func TestExpiredAsksForWhatItNeeds(t *testing.T) {
	const n = 2500
	ctx, w := t.Context(), newWorld(t, time.Now)
	docs := make([]any, n)
	for i := range docs {
		code := fmt.Sprintf("code-%04d", i)
		docs[i] = bson.D{
			{Key: "_id", Value: "acme/" + code},
			{Key: "tenant", Value: "acme"},
			{Key: "code", Value: code},
			{Key: "intents", Value: bson.A{bson.D{{Key: "deadline", Value: time.Now().Add(-time.Hour)}}}},
		}
	}
	if _, err := w.raw.Collection("records").InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	trips := w.commands.during(func() {
		if got := expired(t, w.Store().Expired(ctx, time.Time{}, time.Now())); len(got) != n || got[n-1] != "code-2499" {
			t.Errorf("%d codes, want %d", len(got), n)
		}
	})
	if diff := cmp.Diff([]string{"find", "getMore", "getMore"}, trips); diff != "" {
		t.Errorf("round trips (-want +got):\n%s", diff)
	}
}

func TestExpiredEndsEarly(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	ref := push.Ref{Tenant: "acme", Code: "c"}
	if ok, err := w.Store().Begin(ctx, ref, 0, push.Intent{Epoch: 1}); !ok || err != nil {
		t.Fatalf("Begin: %v, %v", ok, err)
	}
	for got := range w.Store().Expired(ctx, time.Time{}, time.Now()) {
		if got != ref {
			t.Errorf("found %v", got)
		}
		break
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range w.Store().Expired(ctx, time.Time{}, time.Now()) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("with an ended context: %v", err)
		}
	}
}

func expired(t *testing.T, found func(func(push.Ref, error) bool)) []string {
	t.Helper()
	var codes []string
	for ref, err := range found {
		if err != nil {
			t.Fatalf("Expired: %v", err)
		}
		codes = append(codes, ref.Code)
	}
	slices.Sort(codes)
	return codes
}
