//go:build integration

package mongostore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/backstop/spot/spottest"
	"github.com/rollcall-dev/rollcall/internal/push"
)

func TestSpotsConform(t *testing.T) {
	spottest.TestStore(t, func(t *testing.T) spottest.Store { return newWorld(t, time.Now).Spots() })
}

var _ spot.Records = (*mongostore.Store)(nil)

// The record alone costs one read by its _id.
func TestARecordIsOneRead(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	store := w.Store()
	intent := push.Intent{Epoch: 1, Hash: "h", Owner: "p", Deadline: time.UnixMilli(1_900_000_000_000).UTC()}
	if ok, err := store.Begin(ctx, acme, 0, intent); !ok || err != nil {
		t.Fatal(ok, err)
	}
	var got push.Record
	trips := w.commands.during(func() {
		var err error
		if got, err = store.Record(ctx, acme); err != nil {
			t.Fatal(err)
		}
	})
	if diff := cmp.Diff([]string{"find"}, trips); diff != "" {
		t.Errorf("round trips (-want +got):\n%s", diff)
	}
	want := push.Record{Code: acme.Code, Epoch: 1, Intents: []push.Intent{intent}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	never := push.Ref{Tenant: acme.Tenant, Code: "never"}
	if got, err := store.Record(ctx, never); err != nil || got.Code != "never" || got.Epoch != 0 {
		t.Errorf("of a code that was never pushed: %+v, %v", got, err)
	}
}

// A code that agrees costs two round trips: its day, and a look for a difference.
func TestTheSpotCheckReadsByID(t *testing.T) {
	ctx, spots := t.Context(), newWorld(t, time.Now)
	store := spots.Spots()
	trips := spots.commands.during(func() {
		if err := store.Add(ctx, "acme", "20261130", spot.Tally{Checked: 1}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := store.Get(ctx, acme); err != nil {
			t.Fatal(err)
		}
	})
	if diff := cmp.Diff([]string{"update", "find"}, trips); diff != "" {
		t.Errorf("round trips (-want +got):\n%s", diff)
	}
}
