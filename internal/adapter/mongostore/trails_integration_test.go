//go:build integration

package mongostore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// A trail comes back as it was noted, in the order of time, and stays short.
func TestTrails(t *testing.T) {
	begun := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	trails := newWorld(t, func() time.Time { return begun.Add(time.Hour) }).Trails()
	ctx, ref := t.Context(), push.Ref{Tenant: "acme", Code: "c1"}
	entries := []trail.Entry{
		{
			At: begun, Kind: trail.Pushed, Epoch: 3, Size: 2, Moves: []trail.Move{{Staff: "amy", Came: true, Why: reason.Eligible}, {Staff: "old"}},
			Trigger: trail.Trigger{Reason: "staff_online", Message: "7:12:0", PublishedAt: begun.Add(-time.Second)}, Trace: "4bf92f3577b34da6a3ce929d0e0e4736",
		},
		{At: begun.Add(time.Second), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: "amy", Count: 6, Limit: 5},
		{At: begun.Add(2 * time.Second), Kind: trail.Waits, Cause: reason.Blocked, Until: begun.Add(time.Hour), Detail: "45009"},
		{At: begun.Add(3 * time.Second), Kind: trail.Refused, Epoch: 4, Cause: reason.Transient, Unknown: true, Detail: "http 502"},
	}
	other := push.Ref{Tenant: "acme", Code: "c2"}
	if err := trails.Append(ctx, append(noted(ref, entries[3], entries[2], entries[0]), noted(other, entries[1])...)); err != nil {
		t.Fatal(err)
	}
	if err := trails.Append(ctx, noted(ref, entries[1])); err != nil {
		t.Fatal(err)
	}
	got, err := trails.Of(ctx, ref)
	if diff := cmp.Diff(entries, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, none := range []push.Ref{{Tenant: "other", Code: "c1"}, {Tenant: "acme", Code: "c3"}} {
		if got, err := trails.Of(ctx, none); len(got) != 0 || err != nil {
			t.Errorf("%v has %v, %v", none, got, err)
		}
	}
}

// A trail is the newest entries of each kind, however many there were and whoever
// wrote them; nothing has to be removed.
func TestTrailsStayShort(t *testing.T) {
	begun := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	w := newWorld(t, func() time.Time { return begun.Add(time.Hour) })
	ref := push.Ref{Tenant: "acme", Code: "c1"}
	writers := []*mongostore.Trails{w.Trails(), w.Trails()}
	most := map[trail.Kind]int{trail.Pushed: trail.Kept, trail.Waits: trail.KeptWaits, trail.Full: trail.KeptFull, trail.Refused: trail.KeptRefused}
	const many = 200
	for i := range int64(many) {
		var all []trail.Entry
		for kind := range most {
			all = append(all, trail.Entry{At: begun.Add(time.Duration(i) * time.Second), Kind: kind, Epoch: i, Detail: strings.Repeat("长", 300)})
		}
		if err := writers[i%2].Append(t.Context(), noted(ref, all...)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.Trails().Of(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	of := map[trail.Kind][]trail.Entry{}
	for _, e := range got {
		of[e.Kind] = append(of[e.Kind], e)
	}
	for kind, n := range most {
		if all := of[kind]; len(all) != n || all[0].Epoch != int64(many-n) || len([]rune(all[0].Detail)) != 200 {
			t.Errorf("%s: %d entries, want the newest %d of %d characters", kind, len(all), n, 200)
		}
	}
	if stored, err := w.raw.Collection("trails").CountDocuments(t.Context(), bson.M{}); err != nil || stored != trail.Kept+3 {
		t.Errorf("%d documents, want %d; %v", stored, trail.Kept+3, err)
	}
}

// Pushes that are left over from before, around which others are missing, are not
// shown: of epochs that ended without a push, and of a time that a restored
// database knows nothing of. Nor is what is too old.
func TestTrailsHaveNoGapOfEpochs(t *testing.T) {
	begun := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	now := begun.Add(time.Hour)
	w := newWorld(t, func() time.Time { return now })
	ref := push.Ref{Tenant: "acme", Code: "c1"}
	add := func(second int, epochs ...int64) {
		t.Helper()
		for _, epoch := range epochs {
			e := trail.Entry{At: begun.Add(time.Duration(second) * time.Second), Kind: trail.Pushed, Epoch: epoch}
			if err := w.Trails().Append(t.Context(), noted(ref, e)); err != nil {
				t.Fatal(err)
			}
			second++
		}
	}
	want := func(what string, epochs ...int64) {
		t.Helper()
		got, err := w.Trails().Of(t.Context(), ref)
		var shown []int64
		for _, e := range got {
			shown = append(shown, e.Epoch)
		}
		if diff := cmp.Diff(epochs, shown); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", what, err, diff)
		}
	}
	add(0, 3, 4)
	add(10, 70) // 5 to 69 ended without a push
	want("of an old epoch", 70)
	add(20, 72)
	want("in order", 70, 72)
	add(30, 66) // the database is an older one
	want("after a restore", 3, 4, 66)
	now = begun.Add(30*time.Second + mongostore.TrailsKept)
	want("as old as may be", 66)
	now = now.Add(time.Second)
	want("too old")
}

func noted(ref push.Ref, entries ...trail.Entry) []trail.Noted {
	var all []trail.Noted
	for _, e := range entries {
		all = append(all, trail.Noted{Ref: ref, Entry: e})
	}
	return all
}
