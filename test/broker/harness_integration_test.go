//go:build integration

package broker_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// topic is one test's own topic with a producer and the admin's view.
type topic struct {
	*testing.T
	name     string
	producer *refresh.Producer
	admin    *pulsarbus.Admin
}

func newTopic(t *testing.T) *topic {
	t.Helper()
	tp := &topic{T: t, name: "persistent://public/default/broker-" + rand.Text()[:10]}
	var err error
	if tp.admin, err = pulsarbus.NewAdmin(pulsarbus.AdminOptions{URL: stacktest.PulsarAdminURL(t)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tp.admin.Close)
	if err := tp.admin.EnsureTopic(t.Context(), tp.name, 0); err != nil {
		t.Fatal(err)
	}
	if tp.producer, err = refresh.Dial(stacktest.PulsarURL(t), refresh.Options{Topic: tp.name, Logger: quiet()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tp.producer.Close)
	return tp
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (tp *topic) publish(code string) {
	tp.Helper()
	event := refresh.Event{Tenant: "acme", Code: code, Reason: "test", OccurredAt: time.Now()}
	if err := tp.producer.Publish(tp.Context(), event); err != nil {
		tp.Fatal(err)
	}
}

// publishMany publishes one event for each code and waits for the broker.
func (tp *topic) publishMany(codes []string) {
	tp.Helper()
	for _, code := range codes {
		event := refresh.Event{Tenant: "acme", Code: code, Reason: "test", OccurredAt: time.Now()}
		tp.producer.PublishAsync(tp.Context(), event, func(err error) {
			if err != nil {
				tp.Errorf("publish for %s: %v", code, err)
			}
		})
	}
	if err := tp.producer.Flush(tp.Context()); err != nil {
		tp.Fatal(err)
	}
}

func (tp *topic) stats() pulsarbus.Stats {
	tp.Helper()
	s, err := tp.admin.Stats(tp.Context(), tp.name, pulsarbus.DefaultSubscription)
	if err != nil {
		tp.Fatal(err)
	}
	return s
}

// eventually polls until ok or fails after the limit.
func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	await.Until(t, limit, 5*time.Millisecond, what, ok)
}

// consumer is an intake on the broker whose refreshes a test decides.
type consumer struct {
	bus     *pulsarbus.Subscription
	intake  *intake.Intake
	joins   chan struct{}
	stop    context.CancelFunc
	stopped chan error

	mu   sync.Mutex
	runs []run
}

// run is one refresh.
type run struct {
	code string
	at   time.Time
}

// consume subscribes and starts an intake.
func (tp *topic) consume(name string, refresh func(ref push.Ref) push.Outcome) *consumer {
	tp.Helper()
	c := &consumer{joins: make(chan struct{}, 1), stopped: make(chan error, 1)}
	var err error
	c.bus, err = pulsarbus.Open(tp.Context(), pulsarbus.Options{
		URL: stacktest.PulsarURL(tp), Topic: tp.name, Name: name, Joins: c.joins, Logger: quiet(),
	})
	if err != nil {
		tp.Fatal(err)
	}
	c.intake = intake.New(intake.Ports{Subscription: c.bus, Refresher: answer{c, refresh}, Dirty: noDirty{tp.T}, Observer: noObserver{}}, intake.Options{
		Workers: 16, TenantCap: 16, MaxHeld: 20_000, MaxHold: maxHold, Recheck: time.Second, Stumble: 100 * time.Millisecond,
		DrainTimeout: 10 * time.Second, MaxFailures: 3, Beat: func() {}, Tracer: noop.Tracer{}, Propagator: propagation.TraceContext{}, Logger: quiet(),
	})
	var ctx context.Context
	ctx, c.stop = context.WithCancel(context.WithoutCancel(tp.Context()))
	go func() { c.stopped <- c.intake.Run(ctx) }()
	tp.Cleanup(func() { c.close(tp.T) })
	return c
}

// close stops the consumer as a refresher does; a second call does nothing.
func (c *consumer) close(t *testing.T) {
	t.Helper()
	if c.stop == nil {
		return
	}
	c.stop()
	c.stop = nil
	if err := <-c.stopped; err != nil {
		t.Errorf("intake: %v", err)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
	defer cancel()
	if err := c.bus.Close(closing); err != nil {
		t.Errorf("close: %v", err)
	}
}

func (c *consumer) ran() []run {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.runs)
}

func (c *consumer) count(code string) int {
	n := 0
	for _, r := range c.ran() {
		if r.code == code {
			n++
		}
	}
	return n
}

type answer struct {
	c       *consumer
	refresh func(push.Ref) push.Outcome
}

func (a answer) Refresh(_ context.Context, ref push.Ref, observe func()) push.Outcome {
	a.c.mu.Lock()
	a.c.runs = append(a.c.runs, run{ref.Code, time.Now()})
	a.c.mu.Unlock()
	observe()
	return a.refresh(ref)
}

type noDirty struct{ *testing.T }

func (d noDirty) Mark(_ context.Context, marks ...push.Mark) error {
	for _, m := range marks {
		d.Errorf("code %s was parked: %s", m.Code, m.Reason)
	}
	return nil
}

type noObserver struct{}

func (noObserver) Ended(context.Context, intake.Ended)         {}
func (noObserver) Paced(context.Context)                       {}
func (noObserver) Acked(context.Context, reason.Reason)        {}
func (noObserver) Nacked(context.Context, reason.Reason)       {}
func (noObserver) Redelivered(context.Context)                 {}
func (noObserver) DeadLettered(context.Context, reason.Reason) {}

func done(push.Ref) push.Outcome { return push.Done{Reason: reason.Unchanged} }

func names(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%05d", prefix, i)
	}
	return out
}

// tries is how often a time is measured before it counts as too long.
const tries = 3

// quietest measures until a time is within the limit, a few times at most, and
// returns the shortest: a machine that does something else for a second makes
// times longer, and never shorter.
func quietest(limit time.Duration, measure func() time.Duration) time.Duration {
	shortest := measure()
	for i := 1; i < tries && shortest > limit; i++ {
		shortest = min(shortest, measure())
	}
	return shortest
}
