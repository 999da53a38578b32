package intake_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// broker is a subscription in memory: it redelivers what is nacked after
// nackDelay and knows what is un-acked.
type broker struct {
	mu          sync.Mutex
	next        int64
	queue       chan intake.Delivery
	unacked     map[intake.MessageID]intake.Delivery
	acked       []intake.MessageID
	nacks       int
	deadLetters []intake.Delivery
	flushed     bool
	joins       chan struct{}

	deadLetterErr error
	receiveErr    chan error
}

const nackDelay = 50 * time.Millisecond

func newBroker() *broker {
	return &broker{
		queue: make(chan intake.Delivery, 10_000), unacked: map[intake.MessageID]intake.Delivery{},
		joins: make(chan struct{}, 1), receiveErr: make(chan error, 1),
	}
}

func (b *broker) publish(tenant, code string) intake.MessageID {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	d := intake.Delivery{
		ID: intake.MessageID{Entry: b.next}, Key: code, PublishedAt: time.Now(),
		Event: &intake.Event{Ref: push.Ref{Tenant: tenant, Code: code}, Reason: "test"},
	}
	b.unacked[d.ID] = d
	b.queue <- d
	return d.ID
}

func (b *broker) publishPoison() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	d := intake.Delivery{
		ID: intake.MessageID{Entry: b.next}, PublishedAt: time.Now(),
		Poison: &intake.Poison{Cause: reason.NoKey, Detail: "no key"},
	}
	b.unacked[d.ID] = d
	b.queue <- d
}

func (b *broker) Receive(ctx context.Context) (intake.Delivery, error) {
	select {
	case <-ctx.Done():
		return intake.Delivery{}, ctx.Err()
	case err := <-b.receiveErr:
		return intake.Delivery{}, err
	case d := <-b.queue:
		return d, nil
	}
}

func (b *broker) Ack(ids ...intake.MessageID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.acked = append(b.acked, ids...)
	for _, id := range ids {
		delete(b.unacked, id)
	}
}

func (b *broker) Nack(ids ...intake.MessageID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nacks += len(ids)
	for _, id := range ids {
		d, ok := b.unacked[id]
		if !ok {
			continue
		}
		d.Redeliveries++
		b.unacked[id] = d
		time.AfterFunc(nackDelay, func() { b.queue <- d })
	}
}

func (b *broker) DeadLetter(_ context.Context, d intake.Delivery) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.deadLetterErr != nil {
		return b.deadLetterErr
	}
	b.deadLetters = append(b.deadLetters, d)
	return nil
}

func (b *broker) Joined() <-chan struct{} { return b.joins }

func (b *broker) Flush(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flushed = true
	return nil
}

func (b *broker) counts() (unacked, acked, nacks int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.unacked), len(b.acked), b.nacks
}

// refresher answers each refresh by a function and notes when it ran.
type refresher struct {
	mu     sync.Mutex
	answer func(ctx context.Context, ref push.Ref, observe func()) push.Outcome
	ran    []time.Duration // since the start
	busy   map[string]int
	clash  bool
	start  time.Time
}

func newRefresher(answer func(context.Context, push.Ref, func()) push.Outcome) *refresher {
	return &refresher{answer: answer, busy: map[string]int{}, start: time.Now()}
}

func (r *refresher) Refresh(ctx context.Context, ref push.Ref, observe func()) push.Outcome {
	r.mu.Lock()
	r.ran = append(r.ran, time.Since(r.start))
	r.busy[ref.Code]++
	r.clash = r.clash || r.busy[ref.Code] > 1
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.busy[ref.Code]--
	}()
	return r.answer(ctx, ref, observe)
}

func (r *refresher) runs() []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ran)
}

// dirty notes the marks.
type dirty struct {
	mu    sync.Mutex
	marks []push.Mark
	err   error
}

func (d *dirty) Mark(_ context.Context, marks ...push.Mark) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.err
	}
	d.marks = append(d.marks, marks...)
	return nil
}

func (d *dirty) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

func (d *dirty) all() []push.Mark {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.marks)
}

// observer notes the endings.
type observer struct {
	mu     sync.Mutex
	ended  []intake.Ended
	acked  map[reason.Reason]int
	nacked map[reason.Reason]int
	buried []reason.Reason
	paced  int
}

func (o *observer) Ended(_ context.Context, e intake.Ended) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = append(o.ended, e)
}

func (o *observer) Acked(_ context.Context, why reason.Reason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acked[why]++
}

func (o *observer) Nacked(_ context.Context, why reason.Reason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.nacked[why]++
}

func (o *observer) Paced(context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paced++
}

func (o *observer) Redelivered(context.Context) {}

func (o *observer) DeadLettered(_ context.Context, cause reason.Reason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buried = append(o.buried, cause)
}

// bench is a running intake on fakes, in a bubble of simulated time.
type bench struct {
	*testing.T
	broker    *broker
	refresher *refresher
	dirty     *dirty
	observer  *observer
	intake    *intake.Intake
	stop      context.CancelFunc
	stopped   chan error
}

var baseOptions = intake.Options{
	Workers: 4, TenantCap: 3, MaxHeld: 100, MaxHold: 15 * time.Second, Recheck: time.Second,
	Stumble: 200 * time.Millisecond, DrainTimeout: 5 * time.Second, MaxFailures: 3, Beat: func() {}, Tracer: noop.Tracer{}, Propagator: propagation.TraceContext{}, Logger: slog.New(slog.DiscardHandler),
}

func run(t *testing.T, opts intake.Options, answer func(context.Context, push.Ref, func()) push.Outcome) *bench {
	ctx, cancel := context.WithCancel(t.Context())
	b := &bench{
		T: t, broker: newBroker(), refresher: newRefresher(answer), dirty: &dirty{},
		observer: &observer{acked: map[reason.Reason]int{}, nacked: map[reason.Reason]int{}},
		stop:     cancel, stopped: make(chan error, 1),
	}
	b.intake = intake.New(intake.Ports{Subscription: b.broker, Refresher: b.refresher, Dirty: b.dirty, Observer: b.observer}, opts)
	go func() { b.stopped <- b.intake.Run(ctx) }()
	synctest.Wait()
	return b
}

func (b *bench) halt() {
	b.Helper()
	b.stop()
	if err := <-b.stopped; err != nil {
		b.Errorf("Run() = %v; want nil after an orderly stop", err)
	}
}

var errDown = errors.New("connection refused")

func observeAndDone(_ context.Context, _ push.Ref, observe func()) push.Outcome {
	observe()
	return push.Done{Reason: reason.Pushed}
}

// pass lets simulated time go by, and everything that is due come to rest.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// spend is the time that a refresh takes.
func spend(d time.Duration) { <-time.After(d) }
