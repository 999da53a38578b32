package shadowtest

import (
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// T0 is when the suites begin.
var T0 = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)

// Clock is what a store under test goes by. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at T0.
func NewClock() *Clock { return &Clock{now: T0} }

// Now is what it shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set has it show T0 and some time.
func (c *Clock) Set(after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = T0.Add(after)
}

// StoreBench is an empty store, and the clock it goes by.
type StoreBench struct {
	shadow.Store
	Clock *Clock
}

// TestStore is the contract of a shadow.Store.
func TestStore(t *testing.T, factory func(t *testing.T) StoreBench) {
	suitetest.Run(t, suitetest.Suite[StoreBench]{
		"a list": {
			"is kept whole":                                keptWhole,
			"of ours gives way to a later one only":        oursInOrder,
			"of theirs gives way to a later one only":      theirsInOrder,
			"that comes again is no change":                noChange,
			"that comes again in another term is a change": newTerm,
			"of another tenant's code of the name is not":  tenantsApart,
			"written by many at once ends as the latest":   writtenByMany,
		},
		"a state": {
			"is due when it has changed by an instant": due,
			"is due anew after each change":            dueAnew,
			"is due in the order of the changes":       dueInOrder,
		},
		"settling": {
			"keeps the verdict and counts the day":     settled,
			"happens once, from many at once":          settledOnce,
			"does not happen when a list has changed":  notSettled,
			"without a day counts nothing":             notCounted,
			"marks days and forgets others":            marked,
			"adds up what a day has":                   addedUp,
			"tells causes apart, each once a mismatch": causesApart,
		},
	}, factory)
}

var (
	code  = push.Ref{Tenant: "acme", Code: "c-1"}
	today = roster.Day("20260302")
)

func ours(after time.Duration, members ...string) push.Shadow {
	return push.Shadow{Members: members, Hash: "h", Revision: 3, At: T0.Add(after)}
}

func theirs(after time.Duration, members ...string) shadow.Reported {
	return shadow.Reported{Members: members, At: T0.Add(after), Source: shadow.Report}
}

func note(t *testing.T, b StoreBench, ref push.Ref, s push.Shadow) {
	t.Helper()
	if err := b.Note(t.Context(), ref, s); err != nil {
		t.Fatalf("Note: %v", err)
	}
}

func report(t *testing.T, b StoreBench, ref push.Ref, r shadow.Reported, want shadow.Reception) {
	t.Helper()
	if got, err := b.Reported(t.Context(), ref, r); err != nil || got != want {
		t.Fatalf("Reported(%v at %v) = %q, %v; want %q", r.Members, r.At, got, err, want)
	}
}

// both leaves lists of both sides.
func both(t *testing.T, b StoreBench, ref push.Ref) {
	t.Helper()
	note(t, b, ref, ours(0, "ann"))
	report(t, b, ref, theirs(0, "ann", "bob"), shadow.Recorded)
}

func dueBy(t *testing.T, b StoreBench, after time.Duration) []shadow.State {
	t.Helper()
	states, err := b.Due(t.Context(), T0.Add(after), 10)
	if err != nil {
		t.Fatalf("Due: %v", err)
	}
	return states
}

func only(t *testing.T, states []shadow.State) shadow.State {
	t.Helper()
	if len(states) != 1 {
		t.Fatalf("%d states: %+v; want one", len(states), states)
	}
	return states[0]
}

func stateOf(t *testing.T, b StoreBench, ref push.Ref) shadow.State {
	t.Helper()
	states, err := b.States(t.Context(), ref.Tenant, []string{ref.Code, "no-such-code"})
	if err != nil || len(states) > 1 {
		t.Fatalf("States = %+v, %v", states, err)
	}
	return states[ref.Code]
}

func keptWhole(t *testing.T, b StoreBench) {
	if got := stateOf(t, b, code); got.Changes != 0 || !got.Changed.IsZero() {
		t.Errorf("before anything: %+v", got)
	}
	o := ours(time.Second, "ann", "z.hang$")
	o.Why = []roster.Judgement{
		{Staff: "ann", Included: true, Reason: reason.KeptLast, Despite: reason.Offline}, {Staff: "cho", Reason: reason.Resigned},
	}
	r := theirs(2*time.Second, "ann", "z.hang$")
	r.Note, r.Source, r.Term = "nightly job", shadow.Spot, 3
	b.Clock.Set(3 * time.Second)
	note(t, b, code, o)
	report(t, b, code, r, shadow.Recorded)
	want := shadow.State{Ref: code, Ours: o, Theirs: r, Changes: 2, Changed: T0.Add(3 * time.Second)}
	suitetest.WantSame(t, "the state that is due", want, only(t, dueBy(t, b, 3*time.Second)))
	want.Ours.Why = nil
	suitetest.WantSame(t, "the state for a report", want, stateOf(t, b, code))
}

func oursInOrder(t *testing.T, b StoreBench) {
	note(t, b, code, ours(10*time.Second, "ann"))
	note(t, b, code, ours(5*time.Second, "bob"))
	if got := stateOf(t, b, code); got.Ours.Members[0] != "ann" || got.Changes != 1 {
		t.Errorf("after an older shadow: %+v", got)
	}
	note(t, b, code, ours(20*time.Second, "ann"))
	note(t, b, code, ours(15*time.Second, "bob"))
	if got := stateOf(t, b, code); got.Ours.Members[0] != "ann" || !got.Ours.At.Equal(T0.Add(20*time.Second)) {
		t.Errorf("a list that came again is not the latest: %+v", got)
	}
	note(t, b, code, ours(30*time.Second))
	if got := stateOf(t, b, code); len(got.Ours.Members) != 0 || got.Changes != 2 || got.Ours.At.IsZero() {
		t.Errorf("nobody left: %+v", got)
	}
}

func theirsInOrder(t *testing.T, b StoreBench) {
	report(t, b, code, theirs(10*time.Second, "ann"), shadow.Recorded)
	report(t, b, code, theirs(5*time.Second, "bob"), shadow.Outdated)
	report(t, b, code, theirs(5*time.Second, "ann"), shadow.Outdated)
	report(t, b, code, theirs(20*time.Second, "ann"), shadow.Repeated)
	report(t, b, code, theirs(15*time.Second, "bob"), shadow.Outdated)
	report(t, b, code, theirs(20*time.Second, "bob"), shadow.Recorded) // of the same instant: the one that comes last
	if got := stateOf(t, b, code); got.Theirs.Members[0] != "bob" || got.Changes != 2 {
		t.Errorf("after all: %+v", got)
	}
}

func noChange(t *testing.T, b StoreBench) {
	both(t, b, code)
	b.Clock.Set(time.Minute)
	again := ours(time.Minute, "ann")
	again.Hash, again.Revision, again.Why = "another", 4, []roster.Judgement{{Staff: "bob", Reason: reason.Offline}}
	note(t, b, code, again)
	report(t, b, code, theirs(time.Minute, "ann", "bob"), shadow.Repeated)
	got := only(t, dueBy(t, b, 0))
	if got.Changes != 2 || !got.Changed.Equal(T0) {
		t.Errorf("it counts as a change: %+v", got)
	}
	suitetest.WantSame(t, "the newest of ours", again, got.Ours)
}

func newTerm(t *testing.T, b StoreBench) {
	both(t, b, code)
	again := theirs(time.Second, "ann", "bob")
	again.Term = 2
	report(t, b, code, again, shadow.Recorded)
	report(t, b, code, again, shadow.Repeated)
	if got := stateOf(t, b, code); got.Changes != 3 || got.Theirs.Term != 2 {
		t.Errorf("%+v", got)
	}
}

func tenantsApart(t *testing.T, b StoreBench) {
	other := push.Ref{Tenant: "globex", Code: code.Code}
	report(t, b, code, theirs(0, "ann"), shadow.Recorded)
	report(t, b, other, theirs(0, "ann"), shadow.Recorded)
	note(t, b, other, ours(0, "bob"))
	if got := stateOf(t, b, code); !got.Ours.At.IsZero() || got.Changes != 1 {
		t.Errorf("it has another tenant's: %+v", got)
	}
}

func writtenByMany(t *testing.T, b StoreBench) {
	const writers = 12
	suitetest.Race(t, writers, func(i int) (bool, error) {
		at := time.Duration(i) * time.Second
		if i%2 == 0 {
			return true, b.Note(t.Context(), code, ours(at, "ann", string(rune('a'+i/4))))
		}
		_, err := b.Reported(t.Context(), code, theirs(at, "ann", string(rune('a'+i/4))))
		return true, err
	})
	got := stateOf(t, b, code)
	suitetest.WantSame(t, "ours", ours(10*time.Second, "ann", "c"), got.Ours)
	suitetest.WantSame(t, "theirs", theirs(11*time.Second, "ann", "c"), got.Theirs)
	if got.Changes < 2 || got.Changes > writers {
		t.Errorf("%d changes", got.Changes)
	}
}
