package metrics

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Refresher records what a refresher does. Its methods are safe for concurrent
// use and neither block nor fail.
type Refresher struct {
	freshness    histogram
	duration     histogram
	outcomes     counter
	pushes       counter
	refusals     counter
	redeliveries counter
	coalesced    counter
	parks        counter
	deadLetters  counter
	acks         counter
	nacks        counter
	alerts       counter
	heartbeat    histogram
	broker       brokerCounters
	load         loadGauges

	meter   metric.Meter
	backlog metric.Int64ObservableUpDownCounter
	states  series
}

// NewRefresher makes the instruments of the catalog.
func NewRefresher(meter metric.Meter) (*Refresher, error) {
	b := builder{meter: meter}
	r := &Refresher{
		freshness:    b.histogram(nameFreshness),
		duration:     b.histogram(nameDuration),
		outcomes:     b.counter(nameOutcomes),
		pushes:       b.counter(namePushes),
		refusals:     b.counter(nameRefusals),
		redeliveries: b.counter(nameRedeliveries),
		coalesced:    b.counter(nameCoalesced),
		parks:        b.counter(nameParks),
		deadLetters:  b.counter(nameDeadLetters),
		acks:         b.counter(nameAcks),
		nacks:        b.counter(nameNacks),
		alerts:       b.counter(nameAlerts),
		heartbeat:    b.histogram(nameHeartbeat),
		broker:       b.brokerCounters(),
		load:         b.loadGauges(),
		meter:        meter,
	}
	r.backlog, r.states = b.upDownCounter(nameBacklog)
	if b.err != nil {
		return nil, fmt.Errorf("creating the refresher's metrics: %w", b.err)
	}
	return r, nil
}

// Freshness is one push that WeCom has confirmed.
type Freshness struct {
	Age       time.Duration // since the earliest event it covers was published
	Slow      bool          // the code is in the slow lane
	Throttled bool          // it had to wait for vendor budget
}

// Fresh records how old the facts were that a push brought to WeCom.
func (r *Refresher) Fresh(ctx context.Context, f Freshness) {
	lane := "fast"
	if f.Slow {
		lane = "slow"
	}
	r.freshness.record(ctx, f.Age, lane, strconv.FormatBool(f.Throttled))
}

// Refreshed records how one refresh ended and how long the worker was busy.
func (r *Refresher) Refreshed(ctx context.Context, outcome push.Outcome, took time.Duration) {
	ending, why := push.Describe(outcome)
	r.outcomes.add(ctx, ending, why.String())
	r.duration.record(ctx, took, ending, "")
}

// Paced records a code that pauses because it ran often just now. It counts as
// an outcome, hold for paced, though no refresh ended with it.
func (r *Refresher) Paced(ctx context.Context) {
	ending, why := push.Describe(push.Hold{Cause: reason.Paced})
	r.outcomes.add(ctx, ending, why.String())
}

// Answer is what became of a call that replaces a list.
type Answer string

// The answers.
const (
	Applied Answer = "applied" // WeCom has the list
	Refused Answer = "refused" // surely not applied
	Unknown Answer = "unknown" // sent, and no trustworthy answer came
)

// Pushed records one call to WeCom and the class of its error; "" is none.
func (r *Refresher) Pushed(ctx context.Context, answer Answer, class reason.Reason) {
	if class == "" {
		class = None
	}
	r.pushes.add(ctx, string(answer), class.String())
}

// BudgetRefused records a push that may not go yet.
func (r *Refresher) BudgetRefused(ctx context.Context, cause reason.Reason) {
	r.refusals.add(ctx, cause.String(), "")
}

// Redelivered records a message that came again.
func (r *Refresher) Redelivered(ctx context.Context) { r.redeliveries.add(ctx, "", "") }

// Acked records a message that is done with, by what it ended with.
func (r *Refresher) Acked(ctx context.Context, why reason.Reason) {
	r.acks.add(ctx, why.String(), "")
	if why == reason.Coalesced {
		r.coalesced.add(ctx, "", "")
	}
}

// Nacked records a message that was given back to the broker.
func (r *Refresher) Nacked(ctx context.Context, why reason.Reason) {
	r.nacks.add(ctx, why.String(), "")
}

// Parked records a code that is durably in the dirty set.
func (r *Refresher) Parked(ctx context.Context, why reason.Reason) {
	r.parks.add(ctx, why.String(), "")
}

// DeadLettered records a message that is durably in the dead-letter topic.
func (r *Refresher) DeadLettered(ctx context.Context, cause reason.Reason) {
	r.deadLetters.add(ctx, cause.String(), "")
}

// Backlog is what a process holds at one moment, in codes.
type Backlog struct {
	Runnable int
	InFlight int
	Held     map[reason.Reason]int // by cause
}

// ObserveBacklog has read asked whenever metrics are collected; read must be
// quick and safe to call from another goroutine. Call stop before what read
// looks at is gone.
func (r *Refresher) ObserveBacklog(read func() Backlog) (stop func() error, err error) {
	registration, err := r.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		r.observe(o, read())
		return nil
	}, r.backlog)
	if err != nil {
		return nil, fmt.Errorf("observing the backlog: %w", err)
	}
	return registration.Unregister, nil
}

// observe reports every known cause, so that one that is over falls to zero
// instead of vanishing.
func (r *Refresher) observe(o metric.Observer, b Backlog) {
	o.ObserveInt64(r.backlog, int64(b.Runnable), r.states.of("runnable", None))
	o.ObserveInt64(r.backlog, int64(b.InFlight), r.states.of("in_flight", None))
	others := 0
	for _, n := range b.Held {
		others += n
	}
	for _, cause := range waits {
		n := b.Held[cause]
		others -= n
		o.ObserveInt64(r.backlog, int64(n), r.states.of("held", cause.String()))
	}
	o.ObserveInt64(r.backlog, int64(others), r.states.of("held", Other))
}

// histogram records durations in seconds.
type histogram struct {
	instrument metric.Float64Histogram
	series     series
}

func (h histogram) record(ctx context.Context, d time.Duration, first, second string) {
	h.instrument.Record(ctx, max(d, 0).Seconds(), h.series.of(first, second))
}

// counter counts one at a time.
type counter struct {
	instrument metric.Int64Counter
	series     series
}

func (c counter) add(ctx context.Context, first, second string) {
	c.instrument.Add(ctx, 1, c.series.of(first, second))
}

// builder makes instruments and keeps what went wrong.
type builder struct {
	meter metric.Meter
	err   error
}

func (b *builder) find(name string) Instrument {
	found, err := find(name)
	b.err = errors.Join(b.err, err)
	return found
}

func (b *builder) histogram(name string) histogram {
	i := b.find(name)
	instrument, err := b.meter.Float64Histogram(name, metric.WithUnit(i.Unit), metric.WithDescription(i.What), metric.WithExplicitBucketBoundaries(i.Buckets...))
	b.err = errors.Join(b.err, err)
	return histogram{instrument, newSeries(i.Labels)}
}

func (b *builder) counter(name string) counter {
	i := b.find(name)
	instrument, err := b.meter.Int64Counter(name, metric.WithUnit(i.Unit), metric.WithDescription(i.What))
	b.err = errors.Join(b.err, err)
	return counter{instrument, newSeries(i.Labels)}
}

func (b *builder) upDownCounter(name string) (metric.Int64ObservableUpDownCounter, series) {
	i := b.find(name)
	instrument, err := b.meter.Int64ObservableUpDownCounter(name, metric.WithUnit(i.Unit), metric.WithDescription(i.What))
	b.err = errors.Join(b.err, err)
	return instrument, newSeries(i.Labels)
}
