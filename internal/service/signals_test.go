package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// A wait or an end as it has to be found: in the log, in the trace of the event
// that it happened to, and in the metrics.
type sighting struct {
	outcome string
	why     reason.Reason
	series  string // without its value, which is 1 or more
}

func outcomes(outcome string, why reason.Reason) sighting {
	return sighting{outcome, why, fmt.Sprintf("rollcall.outcomes{outcome=%s,reason=%s}", outcome, why)}
}

func nacked(why reason.Reason) sighting {
	return sighting{"nack", why, fmt.Sprintf("rollcall.nacks{reason=%s}", why)}
}

// acked is an ack whose line is that of another sighting.
func acked(outcome string, why reason.Reason) sighting {
	return sighting{outcome, why, fmt.Sprintf("rollcall.acks{reason=%s}", why)}
}

// Every cause for which a code waits, taken from the vocabulary itself: a cause
// that is added there is tested here as a hold and its nack at the deadline,
// unless it comes about in a way of its own.
func TestEveryWaitIsTheSameInLogMetricAndTrace(t *testing.T) {
	ofItsOwn := map[reason.Reason]func(*watched) []sighting{
		reason.Overflow:   (*watched).overflow,
		reason.HandedBack: (*watched).handBack,
		reason.Paced:      (*watched).pace,
		reason.StoreDown:  (*watched).storeDown,
	}
	for _, cause := range vocabulary(t, "Why a code has to wait") {
		t.Run(cause.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				scenario, special := ofItsOwn[cause]
				if !special {
					scenario = func(w *watched) []sighting { return w.holdUntilDue(cause) }
				}
				w := watch(t)
				w.mustSee(scenario(w)...)
			})
		})
	}
}

func TestEveryEndIsTheSameInLogMetricAndTrace(t *testing.T) {
	type end struct {
		name string
		run  func(*watched) []sighting
	}
	ends := []end{{"coalesced", (*watched).coalesce}}
	for _, why := range []reason.Reason{reason.Pushed, reason.Unchanged, reason.Deleted, reason.Shadowed, reason.Wayless} {
		ends = append(ends, end{why.String(), func(w *watched) []sighting {
			w.answer(push.Done{Reason: why})
			return []sighting{outcomes("done", why), acked("done", why)}
		}})
	}
	for _, why := range append(vocabulary(t, "Why something failed"), reason.NobodyLeft) {
		ends = append(ends, end{"park " + why.String(), func(w *watched) []sighting {
			w.answer(push.Park{Mark: push.Mark{Ref: acmeC1, Reason: why, Detail: "d", Due: time.Now().Add(time.Hour)}})
			return []sighting{
				outcomes("park", why), acked("park", why),
				{"park", why, fmt.Sprintf("rollcall.parks{reason=%s}", why)},
			}
		}})
	}
	for _, why := range vocabulary(t, "Why a message is a dead letter") {
		ends = append(ends, end{"dead letter " + why.String(), func(w *watched) []sighting { return w.bury(why) }})
	}
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watch(t)
				w.mustSee(e.run(w)...)
			})
		})
	}
}

// A dead letter that cannot be stored is a message that goes back, for the same
// cause.
func TestADeadLetterThatIsNotStoredIsFollowedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		w.bus.refuseLetters = true
		w.deliver(intake.Delivery{Poison: &intake.Poison{Cause: reason.NoKey, Detail: "no key"}})
		w.mustSee(nacked(reason.NoKey))
	})
}

// The log at its usual level says nothing of what is as it should be.
func TestAtLevelInfoOnlyParksAndFailuresAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchAt(t, slog.LevelInfo)
		w.answer(push.Hold{Until: time.Now().Add(5 * time.Second), Cause: reason.Throttled}, push.Done{Reason: reason.Pushed})
		w.pass(6 * time.Second)
		if lines := w.lines(); len(lines) != 0 {
			t.Errorf("a hold and a push logged %v", lines)
		}
		w.answer(push.Park{Mark: push.Mark{Ref: acmeC1, Reason: reason.Gone, Due: time.Now()}})
		w.answer(push.Fail{Class: reason.StoreDown, Err: errors.New("no answer")}, push.Done{Reason: reason.Pushed})
		var levels []string
		for _, line := range w.lines() {
			levels = append(levels, line.Level)
		}
		if !slices.Equal(levels, []string{"WARN", "ERROR"}) {
			t.Errorf("a park and a failure were logged as %v; want a warning and an error", levels)
		}
	})
}

// What the stop cancels is no failure: its message goes to a sibling.
func TestWhatTheStopCancelsIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		w.deliver(intake.Delivery{Event: &intake.Event{Ref: acmeC1}})
		w.stop()
		lines := w.lines()
		if len(lines) != 1 || lines[0].Level != "INFO" || lines[0].Outcome != "fail" {
			t.Errorf("logged %+v; want one line at level info", lines)
		}
	})
}

// What a person needs besides the reason is in the line: until when, and which
// messages were acked.
func TestLinesSayUntilWhenAndWhatWasAcked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		until := time.Now().Add(5 * time.Second)
		w.answer(push.Hold{Until: until, Cause: reason.Blocked}, push.Done{Reason: reason.Pushed})
		w.pass(6 * time.Second)
		for _, line := range w.lines() {
			switch {
			case line.Tenant != "acme" || line.Code != "c1" || line.Message != "0:1:0":
				t.Errorf("a line without its code or message: %+v", line)
			case line.Outcome == "hold" && !line.Until.Equal(until):
				t.Errorf("a hold until %v in %+v", until, line)
			case line.Outcome == "done" && (!slices.Equal(line.Acked, []string{"0:1:0"}) || line.WaitedFor != "blocked"):
				t.Errorf("an ack of message 0:1:0 after a wait for blocked in %+v", line)
			}
		}
		for _, span := range w.spans.Ended() {
			if got := attributesOf(span); got["rollcall.outcome"] == "hold" && got["rollcall.until"] != until.UTC().Format(time.RFC3339Nano) {
				t.Errorf("the span of a hold says %v", got)
			}
		}
	})
}

// holdUntilDue lets a code wait until its deadline and then be pushed.
func (w *watched) holdUntilDue(cause reason.Reason) []sighting {
	w.answer(push.Hold{Until: time.Now().Add(10 * time.Second), Cause: cause}, push.Done{Reason: reason.Pushed})
	w.pass(11 * time.Second)
	return []sighting{outcomes("hold", cause), nacked(cause), acked("done", reason.Pushed)}
}

func (w *watched) storeDown() []sighting {
	w.answer(push.Fail{Class: reason.StoreDown, Err: errors.New("no answer")}, push.Done{Reason: reason.Pushed})
	w.pass(time.Second)
	return []sighting{outcomes("fail", reason.StoreDown), nacked(reason.StoreDown)}
}

// overflow fills the places of the codes that wait and lets one more come.
func (w *watched) overflow() []sighting {
	for i := range watchedMaxHeld {
		w.bus.deliver(intake.Delivery{Event: &intake.Event{Ref: push.Ref{Tenant: "acme", Code: fmt.Sprint("other", i)}}})
	}
	synctest.Wait()
	w.answer(push.Hold{Until: time.Now().Add(10 * time.Second), Cause: reason.Throttled})
	return []sighting{
		outcomes("park", reason.Overflow), acked("park", reason.Overflow),
		{"park", reason.Overflow, "rollcall.parks{reason=overflow}"},
	}
}

func (w *watched) handBack() []sighting {
	w.answer(push.Hold{Until: time.Now().Add(10 * time.Second), Cause: reason.Throttled}, push.Done{Reason: reason.Pushed})
	w.bus.joins <- struct{}{}
	synctest.Wait()
	return []sighting{nacked(reason.HandedBack)}
}

// pace lets a code run more often than its burst allows.
func (w *watched) pace() []sighting {
	for range 6 {
		w.answer(push.Done{Reason: reason.Pushed})
	}
	return []sighting{outcomes("hold", reason.Paced)}
}

func (w *watched) coalesce() []sighting {
	w.answer(push.Hold{Until: time.Now().Add(10 * time.Second), Cause: reason.Backoff})
	w.deliver(intake.Delivery{Event: &intake.Event{Ref: acmeC1}})
	return []sighting{acked("done", reason.Coalesced)}
}

func (w *watched) bury(why reason.Reason) []sighting {
	w.deliver(intake.Delivery{Poison: &intake.Poison{Cause: why, Detail: "bad"}})
	return []sighting{
		{"dead_letter", why, fmt.Sprintf("rollcall.dead_letters{cause=%s}", why)},
		acked("dead_letter", why),
	}
}

// vocabulary reads the reasons of one block of the package reason.
func vocabulary(t *testing.T, block string) []reason.Reason {
	t.Helper()
	file, err := parser.ParseFile(gotoken.NewFileSet(), "../reason/reason.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out []reason.Reason
	for _, decl := range file.Decls {
		consts, ok := decl.(*ast.GenDecl)
		if !ok || consts.Tok != gotoken.CONST || !strings.HasPrefix(consts.Doc.Text(), block) {
			continue
		}
		for _, spec := range consts.Specs {
			for _, value := range spec.(*ast.ValueSpec).Values {
				text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, reason.Reason(text))
			}
		}
	}
	if len(out) < 3 {
		t.Fatalf("the block %q has %d reasons; was it renamed?", block, len(out))
	}
	return out
}

// acmeC1 is the code that is watched.
var acmeC1 = push.Ref{Tenant: "acme", Code: "c1"}

const (
	watchedTrace   = "0af7651916cd43dd8448eb211c80319c"
	watchedMaxHeld = 3
)

// watched is an intake with real signals, on a broker in memory. Every message
// of the watched code belongs to one trace.
type watched struct {
	*testing.T
	bus     *memoryBus
	log     *lockedBuffer
	spans   *tracetest.SpanRecorder
	reader  sdkmetric.Reader
	answers chan push.Outcome
	stop    func()
}

func watch(t *testing.T) *watched { return watchAt(t, slog.LevelDebug) }

func watchAt(t *testing.T, level slog.Level) *watched {
	w := &watched{
		T: t, log: &lockedBuffer{}, spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader(),
		bus: newMemoryBus(), answers: make(chan push.Outcome, 10),
	}
	m, err := metrics.NewRefresher(sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.reader)).Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	in := intake.New(intake.Ports{Subscription: w.bus, Refresher: w, Dirty: nowhere{}, Observer: observer{m}}, intake.Options{
		Workers: 2, TenantCap: 2, MaxHeld: watchedMaxHeld, MaxHold: 15 * time.Second, Recheck: time.Second,
		Stumble: 200 * time.Millisecond, DrainTimeout: time.Second, MaxFailures: 3, Beat: func() {},
		Tracer:     sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(w.spans)).Tracer("test"),
		Propagator: propagation.TraceContext{},
		Logger:     telemetry.NewLogger(w.log, config.Telemetry{LogFormat: "json", LogLevel: level}),
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- in.Run(ctx) }()
	w.stop = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.stop)
	synctest.Wait()
	return w
}

// Refresh answers for the watched code by the script, and holds every other.
// Beyond the script it waits for the stop.
func (w *watched) Refresh(ctx context.Context, ref push.Ref, observe func()) push.Outcome {
	observe()
	if ref != acmeC1 {
		return push.Hold{Until: time.Now().Add(time.Minute), Cause: reason.SlowLane}
	}
	select {
	case out := <-w.answers:
		return out
	case <-ctx.Done():
		return push.Fail{Class: reason.StoreDown, Err: ctx.Err()}
	}
}

// answer publishes an event of the watched code and scripts how its refreshes
// end.
func (w *watched) answer(outcomes ...push.Outcome) {
	for _, o := range outcomes {
		w.answers <- o
	}
	w.deliver(intake.Delivery{Event: &intake.Event{Ref: acmeC1, Reason: "test"}})
}

func (w *watched) deliver(d intake.Delivery) {
	d.Trace = map[string]string{"traceparent": "00-" + watchedTrace + "-b7ad6b7169203331-01"}
	w.bus.deliver(d)
	synctest.Wait()
}

func (w *watched) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// line is one record of the log, as far as the tests look at it.
type line struct {
	Level     string
	Tenant    string
	Code      string
	Outcome   string
	Reason    reason.Reason
	Until     time.Time
	Message   string
	Acked     []string
	WaitedFor string `json:"waited_for"`
	TraceID   string `json:"trace_id"`
	SpanID    string `json:"span_id"`
}

func (w *watched) lines() []line {
	w.Helper()
	var out []line
	for text := range strings.Lines(w.log.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			w.Fatalf("%v in %s", err, text)
		}
		out = append(out, l)
	}
	return out
}

// mustSee finds every sighting in the log, in the span whose IDs the line has,
// and in the metrics.
func (w *watched) mustSee(want ...sighting) {
	w.Helper()
	figures := counts(w.T, w.reader)
	for _, s := range want {
		at := slices.IndexFunc(w.lines(), func(l line) bool { return l.Outcome == s.outcome && l.Reason == s.why && l.Code != "other0" })
		if at < 0 {
			w.Errorf("%s for %s is not in the log:\n%s", s.outcome, s.why, w.log)
			continue
		}
		found := w.lines()[at]
		if found.TraceID != watchedTrace || found.Message == "" {
			w.Errorf("the line is not of the event's trace, or names no message: %+v", found)
		}
		if !w.traced(found) {
			w.Errorf("%s for %s: no span %s with the same outcome, reason and message", s.outcome, s.why, found.SpanID)
		}
		if !strings.Contains(figures, s.series+" ") {
			w.Errorf("no series %s in\n%s", s.series, figures)
		}
	}
}

func (w *watched) traced(l line) bool {
	for _, span := range w.spans.Ended() {
		got := attributesOf(span)
		if span.SpanContext().SpanID().String() == l.SpanID {
			return got["rollcall.outcome"] == l.Outcome && got["rollcall.reason"] == l.Reason.String() && got["messaging.message.id"] == l.Message
		}
	}
	return false
}

func attributesOf(span sdktrace.ReadOnlySpan) map[attribute.Key]string {
	out := map[attribute.Key]string{}
	for _, a := range span.Attributes() {
		out[a.Key] = a.Value.String()
	}
	return out
}

// memoryBus is a broker in memory that redelivers at once.
type memoryBus struct {
	queue         chan intake.Delivery
	joins         chan struct{}
	refuseLetters bool

	mu      sync.Mutex
	next    int64
	unacked map[intake.MessageID]intake.Delivery
}

func newMemoryBus() *memoryBus {
	return &memoryBus{queue: make(chan intake.Delivery, 100), joins: make(chan struct{}), unacked: map[intake.MessageID]intake.Delivery{}}
}

func (b *memoryBus) deliver(d intake.Delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	d.ID, d.PublishedAt = intake.MessageID{Entry: b.next}, time.Now()
	b.unacked[d.ID] = d
	b.queue <- d
}

func (b *memoryBus) Receive(ctx context.Context) (intake.Delivery, error) {
	select {
	case <-ctx.Done():
		return intake.Delivery{}, ctx.Err()
	case d := <-b.queue:
		return d, nil
	}
}

func (b *memoryBus) Ack(ids ...intake.MessageID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		delete(b.unacked, id)
	}
}

// Nack redelivers events; poison is left, for it would come for ever.
func (b *memoryBus) Nack(ids ...intake.MessageID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if d := b.unacked[id]; d.Event != nil {
			d.Redeliveries++
			b.unacked[id] = d
			b.queue <- d
		}
	}
}

func (b *memoryBus) DeadLetter(context.Context, intake.Delivery) error {
	if b.refuseLetters {
		return errors.New("the dead-letter topic is away")
	}
	return nil
}

func (b *memoryBus) Joined() <-chan struct{}     { return b.joins }
func (b *memoryBus) Flush(context.Context) error { return nil }

// nowhere takes every mark.
type nowhere struct{}

func (nowhere) Mark(context.Context, ...push.Mark) error { return nil }

// lockedBuffer is a buffer that several goroutines write to.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
