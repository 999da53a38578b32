package pushtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

func recordZero(t *testing.T, b StoreBench) {
	b.seed()
	b.wantRecord(t, push.Record{})
}

func recordBegins(t *testing.T, b StoreBench) {
	b.seed()
	first, second := b.begin(t, 0), b.begin(t, 1)
	b.wantRecord(t, push.Record{Epoch: 2, Intents: []push.Intent{first, second}})
}

func recordStaleBegin(t *testing.T, b StoreBench) {
	b.seed()
	first, second := b.begin(t, 0), b.begin(t, 1)
	for _, seen := range []int64{0, 1, 3} {
		ok, err := b.Store.Begin(t.Context(), acme, seen, b.intent(seen+1))
		if ok || err != nil {
			t.Errorf("Begin from epoch %d at epoch 2 = %v, %v; want false", seen, ok, err)
		}
	}
	b.wantRecord(t, push.Record{Epoch: 2, Intents: []push.Intent{first, second}})
}

// recordBeginRace starts from no record at all, where racers may collide on
// its creation, and goes on from there.
func recordBeginRace(t *testing.T, b StoreBench) {
	const racers, epochs = 32, 8
	b.seed()
	for seen := range int64(epochs) {
		winners := suitetest.Race(t, racers, func(int) (bool, error) {
			return b.Store.Begin(t.Context(), acme, seen, b.intent(seen+1))
		})
		if len(winners) != 1 {
			t.Errorf("%d of %d racers began epoch %d, want 1", len(winners), racers, seen+1)
		}
	}
	_, record := b.load(t, acme)
	if record.Epoch != epochs || len(record.Intents) != epochs {
		t.Errorf("epoch %d with %d intents after %d winners", record.Epoch, len(record.Intents), epochs)
	}
}

func recordBeginsAfterFailure(t *testing.T, b StoreBench) {
	b.seed()
	failure := push.Failure{Streak: 1, Class: reason.Credentials}
	b.setFailure(t, failure)
	intent := b.begin(t, 0)
	b.wantRecord(t, push.Record{Epoch: 1, Intents: []push.Intent{intent}, Failure: failure})
}

// recordBeginDuringFailure lets both create the record: the failure must not
// cost the only beginner his epoch.
func recordBeginDuringFailure(t *testing.T, b StoreBench) {
	b.seed()
	failure := push.Failure{Streak: 1, Class: reason.Transient}
	winners := suitetest.Race(t, 16, func(i int) (bool, error) {
		if i == 0 {
			return b.Store.Begin(t.Context(), acme, 0, b.intent(1))
		}
		return false, b.Store.SetFailure(t.Context(), acme, failure)
	})
	if len(winners) != 1 {
		t.Error("the only Begin was refused")
	}
	_, record := b.load(t, acme)
	if record.Epoch != 1 || len(record.Intents) != 1 || record.Failure != failure {
		t.Errorf("record %+v, want epoch 1 with its intent and the failure", record)
	}
}

func recordKeepsNewest(t *testing.T, b StoreBench) {
	b.seed()
	for seen := range int64(MaxIntents + 3) {
		b.begin(t, seen)
	}
	_, record := b.load(t, acme)
	if got := len(record.Intents); got != MaxIntents {
		t.Fatalf("%d intents are kept, want %d", got, MaxIntents)
	}
	if first := record.Intents[0].Epoch; first != 4 {
		t.Errorf("the oldest intent kept is of epoch %d, want 4", first)
	}
}

func recordDrops(t *testing.T, b StoreBench) {
	b.seed()
	first := b.begin(t, 0)
	b.begin(t, 1)
	for range 2 { // the second finds nothing, which is no error
		if err := b.Store.Drop(t.Context(), acme, 2); err != nil {
			t.Fatalf("Drop: %v", err)
		}
	}
	b.wantRecord(t, push.Record{Epoch: 2, Intents: []push.Intent{first}})
}

func recordCommits(t *testing.T, b StoreBench) {
	b.seed()
	b.begin(t, 0)
	second := b.begin(t, 1)
	b.begin(t, 2)
	b.setFailure(t, push.Failure{Streak: 2, Class: reason.Transient})
	committed := b.committed(3)
	if ok, err := b.Store.Commit(t.Context(), acme, committed, []int64{1, 3}, time.Time{}); !ok || err != nil {
		t.Fatalf("Commit = %v, %v; want true", ok, err)
	}
	b.wantRecord(t, push.Record{Epoch: 3, Committed: committed, Intents: []push.Intent{second}})

	committed.Notes, committed.Hash = nil, "another"
	if ok, err := b.Store.Commit(t.Context(), acme, committed, nil, time.Time{}); !ok || err != nil {
		t.Fatalf("second Commit = %v, %v; want true", ok, err)
	}
	b.wantRecord(t, push.Record{Epoch: 3, Committed: committed, Intents: []push.Intent{second}})
}

func recordSuperseded(t *testing.T, b StoreBench) {
	b.seed()
	first, second := b.begin(t, 0), b.begin(t, 1)
	failure := push.Failure{Streak: 1, Class: reason.Transient, NotBefore: b.instant()}
	b.setFailure(t, failure)
	for _, epoch := range []int64{0, 1, 3} {
		ok, err := b.Store.Commit(t.Context(), acme, b.committed(epoch), []int64{1, 2}, time.Time{})
		if ok || err != nil {
			t.Errorf("Commit of epoch %d at epoch 2 = %v, %v; want false", epoch, ok, err)
		}
	}
	b.wantRecord(t, push.Record{Epoch: 2, Intents: []push.Intent{first, second}, Failure: failure})
}

// recordCommitRace: whoever comes first, the list of the older epoch is never
// the committed one once the newer epoch has begun.
func recordCommitRace(t *testing.T, b StoreBench) {
	b.seed()
	b.begin(t, 0)
	suitetest.Race(t, 8, func(i int) (bool, error) {
		if i == 0 {
			return b.Store.Begin(t.Context(), acme, 1, b.intent(2))
		}
		return b.Store.Commit(t.Context(), acme, b.committed(1), []int64{1}, time.Time{})
	})
	if ok, err := b.Store.Commit(t.Context(), acme, b.committed(1), nil, time.Time{}); ok || err != nil {
		t.Errorf("Commit of epoch 1 after epoch 2 began = %v, %v; want false", ok, err)
	}
	if ok, err := b.Store.Commit(t.Context(), acme, b.committed(2), []int64{1, 2}, time.Time{}); !ok || err != nil {
		t.Errorf("Commit of epoch 2 = %v, %v; want true", ok, err)
	}
	b.wantRecord(t, push.Record{Epoch: 2, Committed: b.committed(2)})
}

// recordNotesFirst: a code may have something to say before its first push.
func recordNotesFirst(t *testing.T, b StoreBench) {
	b.seed()
	noted := push.Committed{Notes: []reason.Reason{reason.NobodyLeft}}
	if ok, err := b.Store.Commit(t.Context(), acme, noted, nil, time.Time{}); !ok || err != nil {
		t.Fatalf("Commit at epoch 0 = %v, %v; want true", ok, err)
	}
	b.wantRecord(t, push.Record{Committed: noted})
	intent := b.begin(t, 0)
	if ok, err := b.Store.Commit(t.Context(), acme, noted, nil, time.Time{}); ok || err != nil {
		t.Errorf("Commit at epoch 0 after the first Begin = %v, %v; want false", ok, err)
	}
	b.wantRecord(t, push.Record{Epoch: 1, Intents: []push.Intent{intent}, Committed: noted})
}

func recordFailure(t *testing.T, b StoreBench) {
	b.seed()
	first := push.Failure{
		Streak: 1, Class: reason.BadMember, ErrCode: 40031, Message: "bad user", NotBefore: b.instant().Add(time.Minute),
	}
	b.setFailure(t, first)
	b.wantRecord(t, push.Record{Failure: first})
	second := push.Failure{Streak: 2, Class: reason.Transient}
	b.setFailure(t, second)
	b.wantRecord(t, push.Record{Failure: second})
	b.setFailure(t, push.Failure{})
	b.wantRecord(t, push.Record{})
}

// recordTenantWall: an event that names the wrong tenant leaves its mark under
// that tenant, and the code's own record alone.
func recordTenantWall(t *testing.T, b StoreBench) {
	b.seed()
	stranger := push.Ref{Tenant: "globex", Code: acme.Code}
	if err := b.Store.SetFailure(t.Context(), stranger, push.Failure{Streak: 9, Class: reason.WrongTenant}); err != nil {
		t.Fatalf("SetFailure of a stranger: %v", err)
	}
	if err := b.Store.Drop(t.Context(), stranger, 1); err != nil {
		t.Fatalf("Drop of a stranger: %v", err)
	}
	intent := b.begin(t, 0)
	if ok, err := b.Store.Commit(t.Context(), stranger, b.committed(1), []int64{1}, time.Time{}); ok || err != nil {
		t.Errorf("Commit of a stranger = %v, %v; want false", ok, err)
	}
	b.wantRecord(t, push.Record{Epoch: 1, Intents: []push.Intent{intent}})
}

func recordCancelled(t *testing.T, b StoreBench) {
	b.seed()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ok, err := b.Store.Begin(ctx, acme, 0, b.intent(1))
	if ok || !errors.Is(err, context.Canceled) {
		t.Errorf("Begin = %v, %v; want context.Canceled", ok, err)
	}
	ok, err = b.Store.Commit(ctx, acme, b.committed(1), nil, time.Time{})
	if ok || !errors.Is(err, context.Canceled) {
		t.Errorf("Commit = %v, %v; want context.Canceled", ok, err)
	}
	if err := b.Store.SetFailure(ctx, acme, push.Failure{Streak: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("SetFailure = %v, want context.Canceled", err)
	}
}

func recordNoAliasing(t *testing.T, b StoreBench) {
	b.seed()
	b.begin(t, 0)
	committed := b.committed(1)
	if _, err := b.Store.Commit(t.Context(), acme, committed, []int64{1}, time.Time{}); err != nil {
		t.Fatalf("Commit: %v", err)
	}
	want := b.committed(1)
	committed.Members[0], committed.Notes[0] = "changed", "changed"
	facts, record := b.load(t, acme)
	record.Committed.Members[0] = "changed"
	facts.Code.Members[0] = roster.Member{Staff: "changed"}
	b.wantRecord(t, push.Record{Epoch: 1, Committed: want})
	if again, _ := b.load(t, acme); again.Code.Members[0].Staff == "changed" {
		t.Error("a change of what Load returned has changed the store")
	}
}

func (b StoreBench) setFailure(t *testing.T, failure push.Failure) {
	t.Helper()
	if err := b.Store.SetFailure(t.Context(), acme, failure); err != nil {
		t.Fatalf("SetFailure: %v", err)
	}
}

func (b StoreBench) committed(epoch int64) push.Committed {
	at := time.Date(2026, 11, 30, 9, 0, int(epoch), 0, time.UTC)
	return push.Committed{
		Members: []string{"li.na", "wang"}, Hash: "hash", Epoch: epoch, At: at, Revision: 4,
		Notes: []reason.Reason{reason.BlastRadius}, Rotates: true,
	}
}
