package decisiontest

import (
	"context"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// Listed is a book that can be read.
type Listed interface {
	decision.Book
	// List returns at most limit decisions, the newest first.
	List(ctx context.Context, limit int) ([]decision.Decision, error)
}

var t0 = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)

// TestBook is the contract of a book. Every test gets an empty one from the
// factory, which cleans up after itself.
func TestBook(t *testing.T, factory func(t *testing.T) Listed) {
	suitetest.Run(t, suitetest.Suite[Listed]{"book": {
		"keeps all of a decision":          kept,
		"keeps how a decision ended":       ended,
		"lists the newest first":           newestFirst,
		"does not end what was not begun":  unknown,
		"records nothing for who has gone": cancelled,
	}}, factory)
}

func full(id string, at time.Time) decision.Decision {
	return decision.Decision{
		ID: id, At: at, By: "ann", Action: decision.DiscardLetter, Subject: "dead letter 12:3:0", Tenant: "acme", Code: "code-1",
		Reason: "a test of theirs", Detail: "cause no_key, message 7:9:3", State: decision.Begun,
	}
}

func kept(t *testing.T, b Listed) {
	bare := decision.New("bob", decision.RetryDirty, "dirty acme/code-1", t0.Add(-time.Second))
	begin(t, b, bare)
	begin(t, b, full("a", t0))
	want(t, b, full("a", t0), bare)
}

func ended(t *testing.T, b Listed) {
	done, failed := full("a", t0.Add(time.Second)), full("b", t0)
	begin(t, b, done)
	begin(t, b, failed)
	end(t, b, "a", decision.Done, "")
	end(t, b, "b", decision.Failed, "the broker is away")
	done.State = decision.Done
	failed.State, failed.Failure = decision.Failed, "the broker is away"
	want(t, b, done, failed)
}

func newestFirst(t *testing.T, b Listed) {
	for i, id := range []string{"b", "d", "a", "c"} {
		begin(t, b, full(id, t0.Add(time.Duration(i/2)*time.Second)))
	}
	newer := t0.Add(time.Second)
	want(t, b, full("c", newer), full("a", newer), full("d", t0), full("b", t0))
	two, err := b.List(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	suitetest.WantSame(t, "the newest two", []decision.Decision{full("c", newer), full("a", newer)}, two)
}

func unknown(t *testing.T, b Listed) {
	if err := b.End(t.Context(), "nobody", decision.Done, ""); err == nil {
		t.Error("a decision ended that was never begun")
	}
	want(t, b)
}

func cancelled(t *testing.T, b Listed) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if err := b.Begin(ctx, full("a", t0)); err == nil {
		t.Error("Begin succeeds with a context that has ended")
	}
	want(t, b)
}

func begin(t *testing.T, b Listed, d decision.Decision) {
	t.Helper()
	if err := b.Begin(t.Context(), d); err != nil {
		t.Fatalf("Begin: %v", err)
	}
}

func end(t *testing.T, b Listed, id string, state decision.State, failure string) {
	t.Helper()
	if err := b.End(t.Context(), id, state, failure); err != nil {
		t.Fatalf("End: %v", err)
	}
}

func want(t *testing.T, b Listed, decisions ...decision.Decision) {
	t.Helper()
	got, err := b.List(t.Context(), 10)
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	suitetest.WantSame(t, "decisions", decisions, got)
}
