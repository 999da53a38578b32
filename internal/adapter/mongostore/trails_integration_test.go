//go:build integration

package mongostore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// A trail comes back as it was noted, in the order of time, and stays short.
func TestTrails(t *testing.T) {
	trails := newWorld(t, time.Now).Trails()
	ctx, ref := t.Context(), push.Ref{Tenant: "acme", Code: "c1"}
	begun := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	entries := []trail.Entry{
		{At: begun, Kind: trail.Pushed, Epoch: 3, Size: 2, Moves: []trail.Move{{Staff: "amy", Came: true, Why: reason.Eligible}, {Staff: "old"}}},
		{At: begun.Add(time.Second), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: "amy", Count: 6, Limit: 5},
		{At: begun.Add(2 * time.Second), Kind: trail.Waits, Cause: reason.Blocked, Until: begun.Add(time.Hour), Detail: "45009"},
	}
	noted := func(ref push.Ref, entries ...trail.Entry) []trail.Noted {
		var all []trail.Noted
		for _, e := range entries {
			all = append(all, trail.Noted{Ref: ref, Entry: e})
		}
		return all
	}
	other := push.Ref{Tenant: "acme", Code: "c2"}
	if err := trails.Append(ctx, append(noted(ref, entries[2], entries[0]), noted(other, entries[1])...)); err != nil {
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
	for i := range many {
		many[i] = trail.Entry{At: begun.Add(time.Duration(i) * time.Minute), Kind: trail.Waits, Detail: strings.Repeat("长", 300) + fmt.Sprint(i)}
	}
	if err := trails.Append(ctx, noted(ref, many...)); err != nil {
		t.Fatal(err)
	}
	got, err = trails.Of(ctx, ref)
	if err != nil || len(got) != trail.Kept || !got[0].At.Equal(many[10].At) || len([]rune(got[0].Detail)) != 200 {
		t.Errorf("%d entries, the first of %v with %d characters; %v", len(got), got[0].At, len([]rune(got[0].Detail)), err)
	}
}
