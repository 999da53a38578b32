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

// Five codes: 0 is noted, 1 has failed, 2 has an intent past its deadline, 3 an
// intent that may still be sent, 4 had all of them once and is well again.
func TestListings(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	if err := w.EnsureIndexes(ctx); err != nil {
		t.Fatalf("EnsureIndexes: %v", err)
	}
	s, now := w.Store(), time.Now().UTC().Truncate(time.Millisecond)
	code := func(i int) push.Ref { return push.Ref{Tenant: "acme", Code: fmt.Sprintf("code-%d", i)} }
	ok := func(done bool, err error) {
		t.Helper()
		if !done || err != nil {
			t.Fatalf("seed: %v, %v", done, err)
		}
	}
	noted := push.Committed{Epoch: 1, Notes: []reason.Reason{reason.MemberCap, reason.BlastRadius}}
	ok(s.Begin(ctx, code(0), 0, push.Intent{Epoch: 1, Deadline: now}))
	ok(s.Commit(ctx, code(0), noted, []int64{1}, time.Time{}))
	ok(true, s.SetFailure(ctx, code(1), push.Failure{Streak: 2, Class: reason.Transient}))
	ok(s.Begin(ctx, code(2), 0, push.Intent{Epoch: 1, Deadline: now.Add(-time.Minute)}))
	ok(s.Begin(ctx, code(3), 0, push.Intent{Epoch: 1, Deadline: now.Add(time.Minute)}))
	ok(s.Begin(ctx, code(4), 0, push.Intent{Epoch: 1, Deadline: now.Add(-time.Minute)}))
	ok(s.Commit(ctx, code(4), noted, []int64{1}, time.Time{}))
	ok(true, s.SetFailure(ctx, code(4), push.Failure{Streak: 1, Class: reason.Transient}))
	ok(s.Commit(ctx, code(4), push.Committed{Epoch: 1}, nil, time.Time{}))

	tests := map[string]struct {
		list func(after push.Ref) ([]mongostore.CodeRecord, error)
		want push.Ref
	}{
		"noted":    {func(after push.Ref) ([]mongostore.CodeRecord, error) { return s.ListNoted(ctx, after, 10) }, code(0)},
		"failures": {func(after push.Ref) ([]mongostore.CodeRecord, error) { return s.ListFailures(ctx, after, 10) }, code(1)},
	}
	if diff := cmp.Diff([]string{"code-2"}, expired(t, s.Expired(ctx, time.Time{}, now))); diff != "" {
		t.Errorf("expired (-want +got):\n%s", diff)
	}
	for name, test := range tests {
		page, err := test.list(push.Ref{})
		if err != nil || len(page) != 1 || page[0].Ref != test.want {
			t.Errorf("%s = %+v, %v; want %v alone", name, page, err, test.want)
			continue
		}
		_, record, err := s.Load(ctx, test.want)
		if err == nil {
			t.Errorf("%s: a code without facts was loaded: %+v", name, record)
		}
		if rest, err := test.list(test.want); len(rest) != 0 || err != nil {
			t.Errorf("%s after the last one = %+v, %v; want none", name, rest, err)
		}
	}
	page, err := s.ListNoted(ctx, push.Ref{}, 10)
	if err != nil {
		t.Fatalf("ListNoted: %v", err)
	}
	if diff := cmp.Diff(push.Record{Code: "code-0", Epoch: 1, Committed: noted}, page[0].Record); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// The listings page through any number of records, each once.
func TestListingsPage(t *testing.T) {
	const n = 7
	ctx, w := t.Context(), newWorld(t, time.Now)
	s := w.Store()
	for i := range n {
		ref := push.Ref{Tenant: "acme", Code: fmt.Sprintf("code-%d", i)}
		if err := s.SetFailure(ctx, ref, push.Failure{Streak: 1, Class: reason.Transient}); err != nil {
			t.Fatalf("SetFailure: %v", err)
		}
	}
	seen := map[push.Ref]int{}
	var after push.Ref
	for pages := 0; ; pages++ {
		page, err := s.ListFailures(ctx, after, 3)
		if err != nil || pages > n {
			t.Fatalf("page %d: %v", pages, err)
		}
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			seen[r.Ref]++
			after = r.Ref
		}
	}
	if len(seen) != n {
		t.Errorf("%d of %d records were listed", len(seen), n)
	}
}

func TestEnsureIndexesMayBeRepeated(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	for range 2 {
		if err := w.EnsureIndexes(ctx); err != nil {
			t.Fatalf("EnsureIndexes: %v", err)
		}
	}
	want := map[string][]string{
		"codes":   {"_id_", "tenant_member_code", "tenant_backup_code", "tenant_code", "tenant_config"},
		"records": {"_id_", "notes", "failure_streak", "intent_deadline"},
		"dirty":   {"_id_", "state_tenant_due", "confirm", "code"},
		"ways":    {"_id_", "due", "tenant_due"},
	}
	for collection, names := range want {
		specs, err := w.raw.Collection(collection).Indexes().ListSpecifications(ctx)
		if err != nil {
			t.Fatalf("list the indexes of %s: %v", collection, err)
		}
		have := map[string]bool{}
		for _, spec := range specs {
			have[spec.Name] = true
		}
		for _, name := range names {
			if !have[name] {
				t.Errorf("%s lacks the index %s: %v", collection, name, have)
			}
		}
	}
}
