package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/intake/desk"
	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Options of an Intake. All are required.
type Options struct {
	Workers   int           // codes in work at once; at least 1
	TenantCap int           // codes of one tenant in work at once; at least 1
	MaxHeld   int           // codes that wait un-acked at once; beyond, a wait is a park
	MaxHold   time.Duration // longest single hold
	Recheck   time.Duration // see keyqueue.Options
	// Stumble is the wait after a refresh that could not even record its
	// failure; it doubles with every redelivery, up to MaxHold.
	Stumble time.Duration
	// DrainTimeout is how long a stopping intake waits for work in flight
	// before it cancels it.
	DrainTimeout time.Duration
	// MaxFailures is how many redeliveries a code that panics gets before it
	// becomes dirty.
	MaxFailures int
	// Beat is called at least every BeatEvery while the intake's own loop
	// turns; it must not wait.
	Beat func()
	// Tracer and Propagator continue the producers' traces.
	Tracer     trace.Tracer
	Propagator propagation.TextMapPropagator
	Logger     *slog.Logger
}

// BeatEvery is the longest time between two beats of a healthy intake.
const BeatEvery = 5 * time.Second

// keyBurst is how many times a code runs in a row before it is paced: changes
// that follow each other like a person's clicks are not held up.
const keyBurst = 4

// paceRate is the runs a second of one tenant beyond that: three times what its
// vendor budget can push (39.5/s), so that events which change no list are not
// held up by those that do. However many codes storm, each runs every maxPace.
const (
	paceRate = 125
	maxPace  = 2 * time.Second
)

// maxLine is how many codes of a tenant may stand in line for a worker although
// too many codes are here: enough to keep its workers busy.
const maxLine = 64

// Ports are what an Intake needs from the world. All are required.
type Ports struct {
	Subscription Subscription
	Refresher    Refresher
	Dirty        push.Dirty
	Observer     Observer
}

// Intake drives one consumer of the subscription.
type Intake struct {
	Ports
	opts Options

	mu     sync.Mutex // guards what follows; never held over I/O
	wake   *sync.Cond // ready work, or closed
	room   *sync.Cond // fewer codes here, or the receiving ends
	desk   *desk.Desk[message]
	closed bool
	armed  time.Time                      // when keepDeadlines wakes by itself; zero: never
	waits  map[keyqueue.Key]reason.Reason // what the codes that wait here wait for

	poke   chan struct{} // an earlier deadline than armed
	crowd  chan struct{} // too many codes stand in line
	graves chan Delivery // poison on its way to the dead-letter topic
}

// message is what the queue keeps of a delivery.
type message struct {
	id           MessageID
	redeliveries uint32
	event        Event
	published    time.Time
	trace        map[string]string
}

func (m message) key() keyqueue.Key { return keyqueue.Key{Tenant: m.event.Tenant, Code: m.event.Code} }

// New returns an Intake; Run starts it.
func New(ports Ports, opts Options) *Intake {
	in := &Intake{
		Ports: ports, opts: opts, waits: map[keyqueue.Key]reason.Reason{},
		poke: make(chan struct{}, 1), crowd: make(chan struct{}, 1), graves: make(chan Delivery, maxGraves),
	}
	in.wake, in.room = sync.NewCond(&in.mu), sync.NewCond(&in.mu)
	in.desk = desk.New(desk.Options[message]{
		Queue: keyqueue.Options[message]{
			Compare:   func(a, b message) int { return a.id.Compare(b.id) },
			TenantCap: opts.TenantCap,
			MaxHold:   opts.MaxHold,
			Recheck:   opts.Recheck,
			Burst:     keyBurst,
			PaceRate:  paceRate,
			MaxPace:   maxPace,
			Remember:  opts.MaxHold,
		},
		MaxHeld:      opts.MaxHeld,
		Line:         maxLine,
		Stumble:      opts.Stumble,
		MaxPanics:    uint32(max(opts.MaxFailures, 0)),
		Redeliveries: func(m message) uint32 { return m.redeliveries },
	})
	return in
}

// Run receives and refreshes until ctx ends, then stops receiving, finishes
// what is in flight (for at most DrainTimeout, then cancelled) and flushes the
// acks. What waits un-acked goes back to the broker when the caller closes the
// subscription. Run returns nil after an orderly stop.
func (in *Intake) Run(ctx context.Context) error {
	receiving, stopReceiving := context.WithCancel(ctx)
	defer stopReceiving()
	working, stopWorking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWorking()

	var workers, loops sync.WaitGroup
	for range in.opts.Workers {
		workers.Go(func() { in.work(working) })
	}
	loops.Go(func() { in.keepDeadlines(receiving) })
	loops.Go(func() { in.watchJoins(receiving) })
	loops.Go(func() { in.buryAll(receiving) })
	loops.Go(func() { in.shedAll(receiving) })
	defer context.AfterFunc(receiving, in.noMoreRoom)()
	failed := in.receive(receiving)
	stopReceiving()
	loops.Wait()
	in.close()
	drain := time.AfterFunc(in.opts.DrainTimeout, stopWorking)
	workers.Wait()
	drain.Stop()
	flushing, cancel := context.WithTimeout(context.WithoutCancel(ctx), in.opts.DrainTimeout)
	defer cancel()
	return errors.Join(failed, in.Subscription.Flush(flushing))
}

// noMoreRoom wakes a receiver that waits for room, when the receiving ends.
func (in *Intake) noMoreRoom() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.room.Broadcast()
}

// Stats are the numbers of codes here by state.
func (in *Intake) Stats() keyqueue.Stats {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.desk.Stats()
}

// Tenants are the numbers of each tenant that has codes here, in no order.
func (in *Intake) Tenants() []keyqueue.TenantStats {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.desk.Tenants()
}

// SetTenantCap changes how many codes of a tenant are in work at once.
func (in *Intake) SetTenantCap(tenant string, n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.desk.SetTenantCap(tenant, n)
	in.wake.Broadcast()
}

func (in *Intake) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.wake.Broadcast()
}

// receive takes in deliveries until ctx ends. It does not wait for work, but
// for room: while MaxHeld codes are un-acked here and are being shed.
func (in *Intake) receive(ctx context.Context) error {
	for {
		d, err := in.Subscription.Receive(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the stop was asked for; it is no failure
		case err != nil:
			return fmt.Errorf("receive from the subscription: %w", err)
		case d.Poison != nil:
			in.queueBurial(ctx, d)
		default:
			in.take(ctx, d)
		}
	}
}

func (in *Intake) take(ctx context.Context, d Delivery) {
	if d.Redeliveries > 0 {
		in.Observer.Redelivered(ctx)
	}
	m := message{id: d.ID, redeliveries: d.Redeliveries, event: *d.Event, published: d.PublishedAt, trace: d.Trace}
	acks, paced := in.touch(ctx, keyqueue.Touch[message]{Key: m.key(), Message: m, PublishedAt: d.PublishedAt})
	if paced {
		in.tellPaced(ctx, m.key(), m)
	}
	in.ack(acks)
	in.tellCoalesced(ctx, acks)
}

// touch takes a message into the queue. It reports which messages are to be
// acked in its stead, and whether its code pauses now for having run often: no
// other code begins to wait by being touched.
func (in *Intake) touch(ctx context.Context, t keyqueue.Touch[message]) (acks []message, paced bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.desk.Full() && ctx.Err() == nil {
		in.room.Wait()
	}
	before := in.desk.Held()
	acks = in.desk.Touch(t, time.Now())
	if paced = in.desk.Held() > before; paced {
		in.waits[t.Key] = reason.Paced
	}
	in.wake.Signal()
	in.rearmLocked()
	if in.desk.Crowded() {
		wakeUp(in.crowd)
	}
	return acks, paced
}

// work takes one code after the other until the intake is closed. Ready codes
// are left when it closes: their messages are un-acked and go to a sibling.
func (in *Intake) work(ctx context.Context) {
	for {
		work, ok := in.next()
		if !ok {
			return
		}
		in.refresh(ctx, work)
	}
}

func (in *Intake) next() (keyqueue.Work[message], bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for !in.closed {
		if work, ok := in.desk.Next(time.Now()); ok {
			delete(in.waits, work.Key)
			return work, true
		}
		in.wake.Wait()
	}
	return keyqueue.Work[message]{}, false
}

func (in *Intake) ack(messages []message) {
	if len(messages) == 0 {
		return
	}
	ids := make([]MessageID, len(messages))
	for i, m := range messages {
		ids[i] = m.id
	}
	in.Subscription.Ack(ids...)
}

// giveBack nacks first and tells of it then.
func (in *Intake) giveBack(ctx context.Context, messages []returned) {
	if len(messages) == 0 {
		return
	}
	ids := make([]MessageID, len(messages))
	for i, m := range messages {
		ids[i] = m.id
	}
	in.Subscription.Nack(ids...)
	in.tellReturned(ctx, messages)
}

// keepDeadlines ends holds when their time has come.
func (in *Intake) keepDeadlines(ctx context.Context) {
	timer := time.NewTimer(BeatEvery)
	defer timer.Stop()
	for {
		wait := BeatEvery
		if next := in.expire(ctx); !next.IsZero() {
			wait = min(wait, time.Until(next))
		}
		timer.Reset(wait)
		in.opts.Beat()
		select {
		case <-ctx.Done():
			return
		case <-in.poke:
		case <-timer.C:
		}
	}
}

// expire ends the holds that are due and returns when the next one is; zero:
// there is none.
func (in *Intake) expire(ctx context.Context) time.Time {
	in.mu.Lock()
	expired := in.desk.Due(time.Now())
	back := in.returnLocked(expired.Nacks, "")
	in.armed, _ = in.desk.NextDue()
	for range expired.Ready {
		in.wake.Signal()
	}
	next := in.armed
	in.room.Signal()
	in.mu.Unlock()
	in.giveBack(ctx, back)
	return next
}

// rearmLocked wakes keepDeadlines when a deadline came before the one it
// waits for.
func (in *Intake) rearmLocked() {
	next, waiting := in.desk.NextDue()
	if !waiting || (!in.armed.IsZero() && !next.Before(in.armed)) {
		return
	}
	in.armed = next
	wakeUp(in.poke)
}

// wakeUp tells a loop that there is something to do; once is enough.
func wakeUp(loop chan<- struct{}) {
	select {
	case loop <- struct{}{}:
	default:
	}
}

// watchJoins hands back all that is held when a sibling has subscribed.
func (in *Intake) watchJoins(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-in.Subscription.Joined():
			in.mu.Lock()
			back := in.returnLocked(in.desk.HandBack(time.Now()), reason.HandedBack)
			in.room.Signal()
			in.mu.Unlock()
			in.giveBack(ctx, back)
		}
	}
}
