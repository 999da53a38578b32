//go:build integration

package mongostore_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestTheDirtySetIsCountedByItsFirstReasons(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	w := newWorld(t, func() time.Time { return now })
	mark := func(code string, why reason.Reason) {
		t.Helper()
		if err := w.Dirty().Mark(t.Context(), push.Mark{Ref: push.Ref{Tenant: "acme", Code: code}, Reason: why, Due: now}); err != nil {
			t.Fatal(err)
		}
	}
	mark("a", reason.Stale)
	now = now.Add(time.Hour)
	mark("b", reason.Stale)
	mark("a", reason.Transient)
	mark("c", reason.Overflow)
	got, err := w.Dirty().Count(t.Context())
	for i := range got {
		got[i].Oldest = got[i].Oldest.UTC()
	}
	slices.SortFunc(got, func(a, b mongostore.DirtyCount) int { return strings.Compare(string(a.Reason), string(b.Reason)) })
	want := []mongostore.DirtyCount{{reason.Overflow, 1, now}, {reason.Stale, 2, now.Add(-time.Hour)}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
