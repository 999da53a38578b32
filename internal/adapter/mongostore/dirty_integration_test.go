//go:build integration

package mongostore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// A tenant's share of a sweep costs two round trips, however large it is.
func TestAShareOfDirtyCodesIsTwoRoundTrips(t *testing.T) {
	const due, share = 200, 80
	ctx, w := t.Context(), newWorld(t, time.Now)
	dirty, now := w.Dirty(), time.Now()
	for i := range due {
		ref := push.Ref{Tenant: "acme", Code: fmt.Sprintf("code-%03d", i)}
		if err := dirty.Mark(ctx, push.Mark{Ref: ref, Reason: reason.Overflow, Due: now.Add(-time.Second)}); err != nil {
			t.Fatal(err)
		}
	}
	trips := w.commands.during(func() {
		entries, err := dirty.DueOf(ctx, push.DirtyWaits, "acme", now, share)
		if err != nil || len(entries) != share {
			t.Fatalf("DueOf = %d entries, %v", len(entries), err)
		}
		var seen []mongostore.Seen
		for _, e := range entries {
			seen = append(seen, mongostore.Seen{Ref: e.Ref, Version: e.Version})
		}
		if n, err := dirty.Remove(ctx, seen...); n != share || err != nil {
			t.Errorf("Remove = %d, %v", n, err)
		}
	})
	if diff := cmp.Diff([]string{"find", "delete"}, trips); diff != "" {
		t.Errorf("round trips (-want +got):\n%s", diff)
	}
}
