package pushtest

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
)

func recordExpects(t *testing.T, b StoreBench) {
	b.seed()
	intent := b.begin(t, 0)
	noon := b.instant().Add(time.Hour)
	for _, step := range []struct{ at, want time.Time }{
		{noon, noon},
		{noon.Add(time.Minute), noon},
		{noon.Add(-time.Minute), noon.Add(-time.Minute)},
		{noon, noon.Add(-time.Minute)},
		{time.Time{}, noon.Add(-time.Minute)},
	} {
		b.expect(t, step.at)
		b.wantRecord(t, push.Record{Epoch: 1, Intents: []push.Intent{intent}, NextChange: step.want})
	}
}

func recordExpectsWithCommit(t *testing.T, b StoreBench) {
	b.seed()
	b.begin(t, 0)
	noon := b.instant().Add(time.Hour)
	for _, step := range []struct {
		epoch    int64
		at, want time.Time
	}{
		{2, noon.Add(-time.Hour), time.Time{}}, // superseded
		{1, noon, noon},
		{1, noon.Add(time.Minute), noon},
		{1, time.Time{}, noon},
		{1, noon.Add(-time.Minute), noon.Add(-time.Minute)},
	} {
		if ok, err := b.Store.Commit(t.Context(), acme, b.committed(step.epoch), []int64{1}, step.at); ok != (step.epoch == 1) || err != nil {
			t.Fatalf("Commit of epoch %d = %v, %v", step.epoch, ok, err)
		}
		if _, got := b.load(t, acme); !got.NextChange.Equal(step.want) {
			t.Errorf("after a commit that expects %v the next change is at %v, want %v", step.at, got.NextChange, step.want)
		}
	}
}

// recordExpectsNothing: a deleted code has nothing to change, and a failure or
// a search says nothing about the change to come.
func recordExpectsNothing(t *testing.T, b StoreBench) {
	b.seed()
	b.begin(t, 0)
	noon := b.instant().Add(time.Hour)
	b.expect(t, noon)
	b.setFailure(t, push.Failure{Streak: 1})
	b.setFailure(t, push.Failure{})
	if _, got := b.load(t, acme); !got.NextChange.Equal(noon) {
		t.Errorf("beside a failure the next change is at %v, want %v", got.NextChange, noon)
	}
	if err := b.Store.MarkDeleted(t.Context(), acme, b.instant()); err != nil {
		t.Fatalf("MarkDeleted: %v", err)
	}
	if _, got := b.load(t, acme); !got.NextChange.IsZero() {
		t.Errorf("a deleted code changes at %v", got.NextChange)
	}
}

func (b StoreBench) expect(t *testing.T, at time.Time) {
	t.Helper()
	if err := b.Store.ExpectChange(t.Context(), acme, at); err != nil {
		t.Fatalf("ExpectChange: %v", err)
	}
}
