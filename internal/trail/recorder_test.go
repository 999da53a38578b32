package trail_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDown = errors.New("down")

// store takes entries, one write after the other, while it is not blocked.
type store struct {
	trail.Store
	mu      sync.Mutex
	writes  [][]trail.Noted
	fails   error
	blocked chan struct{} // nil: it is not
}

func (s *store) Append(ctx context.Context, entries []trail.Noted) error {
	if s.blocked != nil {
		select {
		case <-s.blocked:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, append([]trail.Noted{}, entries...))
	return s.fails
}

func (s *store) sizes() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sizes []int
	for _, w := range s.writes {
		sizes = append(sizes, len(w))
	}
	return sizes
}

type bench struct {
	*trail.Recorder
	store *store
	mu    sync.Mutex
	fates map[string]int
	stop  func()
}

func start(t *testing.T, s *store) *bench {
	b := &bench{store: s, fates: map[string]int{}}
	b.Recorder = trail.NewRecorder(s, trail.Options{
		Room: 8, Batch: 4, Every: time.Second, Timeout: 2 * time.Second, Codes: 16,
		Count: func(_ context.Context, fate string, n int) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.fates[fate] += n
		},
		Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { b.Run(ctx) })
	b.stop = func() { cancel(); running.Wait() }
	return b
}

func (b *bench) wantFates(t *testing.T, fates map[string]int) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if diff := cmp.Diff(fates, b.fates); diff != "" {
		t.Errorf("fates: %s", diff)
	}
}

func (b *bench) want(t *testing.T, fates map[string]int, sizes ...int) {
	t.Helper()
	b.wantFates(t, fates)
	if diff := cmp.Diff(sizes, b.store.sizes()); diff != "" {
		t.Errorf("writes: %s", diff)
	}
}

func ref(code string) push.Ref { return push.Ref{Tenant: "acme", Code: code} }

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// Entries are written together, at the latest after a while, and the rest at the
// end.
func TestEntriesAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, &store{})
		for range 5 {
			b.Changed(t.Context(), push.Change{Ref: ref("c")})
		}
		synctest.Wait()
		b.want(t, map[string]int{trail.Written: 4}, 4)
		pass(time.Second)
		b.want(t, map[string]int{trail.Written: 5}, 4, 1)
		for range 6 {
			b.Full(t.Context(), quota.Counting{}, quota.Ceiling{})
		}
		b.stop()
		b.want(t, map[string]int{trail.Written: 11}, 4, 1, 4, 2)
	})
}

// A store that hangs holds nobody up: what has no room is dropped and counted, and
// what it does not take in time is lost and counted.
func TestAStoreThatHangsHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{blocked: make(chan struct{})}
		b := start(t, s)
		for range 4 {
			b.Changed(t.Context(), push.Change{Ref: ref("c")})
		}
		synctest.Wait() // the four are being written
		for range 20 {
			b.Changed(t.Context(), push.Change{Ref: ref("c")})
		}
		pass(2500 * time.Millisecond)
		close(s.blocked)
		synctest.Wait()
		b.stop()
		b.wantFates(t, map[string]int{trail.Failed: 4, trail.Dropped: 12, trail.Written: 8})
	})
}

func TestAStoreThatRefusesIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, &store{fails: errDown})
		b.Changed(t.Context(), push.Change{Ref: ref("c")})
		b.stop()
		b.want(t, map[string]int{trail.Failed: 1}, 1)
	})
}

// A code that goes on waiting for the same is noted once; something else, or a
// push in between, is noted again.
func TestAWaitIsNotedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		b := start(t, s)
		hold := func(code string, why reason.Reason) { b.Ended(t.Context(), ref(code), push.Hold{Cause: why}) }
		hold("a", reason.Blocked)
		hold("a", reason.Blocked)
		hold("b", reason.Blocked)
		hold("a", reason.Throttled)
		hold("a", reason.Blocked)
		pass(time.Second)
		b.Ended(t.Context(), ref("a"), push.Done{Reason: reason.Unchanged})
		hold("a", reason.Blocked)
		b.Changed(t.Context(), push.Change{Ref: ref("a")})
		hold("a", reason.Blocked)
		b.stop()
		var got []string
		for _, w := range s.writes {
			for _, n := range w {
				got = append(got, n.Code+" "+string(n.Kind)+" "+n.Cause.String())
			}
		}
		want := []string{
			"a waits blocked", "b waits blocked", "a waits throttled", "a waits blocked", "a waits blocked", "a pushed ", "a waits blocked",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// An entry names the event and the trace that led to it.
func TestAnEntryNamesItsEventAndTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		b := start(t, s)
		traced := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{0x4b, 1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled})
		unsampled := traced.WithTraceFlags(0)
		of := func(span trace.SpanContext) context.Context { return trace.ContextWithSpanContext(t.Context(), span) }
		by := func(span trace.SpanContext) context.Context {
			return intake.WithTrigger(of(span), intake.Trigger{Reason: "staff_offline", Message: intake.MessageID{Ledger: 7, Entry: 12}, PublishedAt: at(-1)})
		}
		b.Changed(by(traced), push.Change{Ref: ref("a"), At: at(0)})
		b.Refused(by(unsampled), push.Refusal{Ref: ref("a"), At: at(0), Epoch: 4, Class: reason.Transient, Unknown: true, Detail: "http 502"})
		b.Ended(by(traced), ref("a"), push.Hold{Cause: reason.Blocked})
		b.Full(of(traced), quota.Counting{}, quota.Ceiling{})
		b.stop()

		trigger, hex := trail.Trigger{Reason: "staff_offline", Message: "7:12:0", PublishedAt: at(-1)}, traced.TraceID().String()
		want := []trail.Entry{
			{Kind: trail.Pushed, Trigger: trigger, Trace: hex},
			{Kind: trail.Refused, Trigger: trigger, Epoch: 4, Cause: reason.Transient, Unknown: true, Detail: "http 502"},
			{Kind: trail.Waits, Trigger: trigger, Trace: hex, Cause: reason.Blocked},
			{Kind: trail.Full, Trace: hex},
		}
		var got []trail.Entry
		for _, n := range slices.Concat(s.writes...) {
			got = append(got, n.Entry)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(trail.Entry{}, "At")); diff != "" {
			t.Error(diff)
		}
	})
}
