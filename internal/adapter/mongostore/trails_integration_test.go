//go:build integration

package mongostore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

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

	many := make([]trail.Entry, trail.Kept+10)
	refusals := make([]trail.Entry, trail.KeptRefused+trail.Kept)
	for i := range refusals {
		refusals[i] = trail.Entry{At: begun.Add(time.Duration(i) * time.Hour), Kind: trail.Refused, Epoch: int64(i)}
	}
	for i := range many {
		many[i] = trail.Entry{At: begun.Add(time.Duration(i) * time.Minute), Kind: trail.Waits, Detail: strings.Repeat("长", 300) + fmt.Sprint(i)}
	}
	if err := trails.Append(ctx, noted(ref, slices.Concat(many, refusals)...)); err != nil {
		t.Fatal(err)
	}
	got, err = trails.Of(ctx, ref)
	refused := func(e trail.Entry) bool { return e.Kind == trail.Refused }
	if i := slices.IndexFunc(got, refused); i < 0 || got[i].Epoch != trail.Kept {
		t.Errorf("of %d refusals not the newest %d are left", len(refusals), trail.KeptRefused)
	}
	got = slices.DeleteFunc(got, refused)
	wantNewest(t, got, many, 57)
	if err != nil || len([]rune(got[0].Detail)) != 200 {
		t.Errorf("%d characters of detail; %v", len([]rune(got[0].Detail)), err)
	}
}

// However many processes write, each beginning with any page, a trail has no gap:
// it is the newest entries, as many as there is room for or some fewer.
func TestTrailsOfManyWritersHaveNoGap(t *testing.T) {
	begun := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	w := newWorld(t, func() time.Time { return begun.Add(24 * time.Hour) })
	ref := push.Ref{Tenant: "acme", Code: "c1"}
	var all []trail.Entry
	for i := range 300 {
		all = append(all, trail.Entry{At: begun.Add(time.Duration(i) * time.Second), Kind: trail.Pushed, Epoch: int64(i)})
	}
	for chunk := range slices.Chunk(all, 3) {
		if err := w.Trails().Append(t.Context(), noted(ref, chunk...)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.Trails().Of(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	wantNewest(t, got, all, trail.Kept/4)
}

// wantNewest wants the newest of all entries, least to trail.Kept of them.
func wantNewest(t *testing.T, got, all []trail.Entry, least int) {
	t.Helper()
	if len(got) < least || len(got) > trail.Kept {
		t.Errorf("%d entries are left, want %d to %d", len(got), least, trail.Kept)
		return
	}
	for i, e := range got {
		if want := all[len(all)-len(got)+i].At; !e.At.Equal(want) {
			t.Errorf("entry %d of %d is of %v, want %v", i, len(got), e.At, want)
			return
		}
	}
}

// What is older than a trail may be is not shown, and goes with its page's first
// entry of a day; what a build without pages wrote is read.
func TestTrailsForgetWhatIsOld(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	w := newWorld(t, func() time.Time { return now })
	trails, ref := w.Trails(), push.Ref{Tenant: "acme", Code: "c1"}
	begun := now
	written := func(kind trail.Kind, days int) trail.Entry {
		return trail.Entry{At: begun.AddDate(0, 0, days), Kind: kind}
	}
	old := bson.M{"_id": "c1", "tenant": "acme", "last": now, "entries": bson.A{bson.M{"t": begun, "k": "waits"}}}
	if _, err := w.raw.Collection("trails").InsertOne(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	want := func(kept int, shown ...trail.Entry) {
		t.Helper()
		got, err := trails.Of(t.Context(), ref)
		if diff := cmp.Diff(shown, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
		var doc struct{ Entries []bson.M }
		if err := w.raw.Collection("trails").FindOne(t.Context(), bson.M{"_id": "c1#refused"}).Decode(&doc); err != nil {
			t.Fatal(err)
		}
		if n := len(doc.Entries); n != kept {
			t.Errorf("%d entries are stored; want %d", n, kept)
		}
	}
	add := func(days int) {
		t.Helper()
		if err := trails.Append(t.Context(), noted(ref, written(trail.Refused, days))); err != nil {
			t.Fatal(err)
		}
	}
	add(1)
	want(1, written(trail.Waits, 0), written(trail.Refused, 1))

	now = begun.AddDate(0, 0, 91).Add(-time.Minute)
	add(89)
	want(2, written(trail.Refused, 1), written(trail.Refused, 89))
	now = now.Add(time.Hour) // the same day: what is too old is not looked for again
	want(2, written(trail.Refused, 89))
	add(90)
	want(3, written(trail.Refused, 89), written(trail.Refused, 90))
	now = now.AddDate(0, 0, 1)
	add(91)
	want(3, written(trail.Refused, 89), written(trail.Refused, 90), written(trail.Refused, 91))
}

func noted(ref push.Ref, entries ...trail.Entry) []trail.Noted {
	var all []trail.Noted
	for _, e := range entries {
		all = append(all, trail.Noted{Ref: ref, Entry: e})
	}
	return all
}
