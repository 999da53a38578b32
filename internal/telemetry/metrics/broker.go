package metrics

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Broker is what happened to a subscription since it was opened.
type Broker struct {
	Resubscribed int64 // consumers that had to be replaced
	AcksDropped  int64 // acks that were given up
	Batched      int64 // messages that came in a batch
}

// brokerCounters are counted elsewhere and only read here.
type brokerCounters struct {
	resubscribed metric.Int64ObservableCounter
	acksDropped  metric.Int64ObservableCounter
	batched      metric.Int64ObservableCounter
}

// Heard records how long a heartbeat was on its way.
func (r *Refresher) Heard(ctx context.Context, age time.Duration) {
	r.heartbeat.record(ctx, age, "", "")
}

// ObserveBroker has read asked whenever metrics are collected; read must be
// quick and safe to call from another goroutine. Call stop before what read
// looks at is gone.
func (r *Refresher) ObserveBroker(read func() Broker) (stop func() error, err error) {
	registration, err := r.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now := read()
		o.ObserveInt64(r.broker.resubscribed, now.Resubscribed)
		o.ObserveInt64(r.broker.acksDropped, now.AcksDropped)
		o.ObserveInt64(r.broker.batched, now.Batched)
		return nil
	}, r.broker.resubscribed, r.broker.acksDropped, r.broker.batched)
	if err != nil {
		return nil, fmt.Errorf("observing the broker: %w", err)
	}
	return registration.Unregister, nil
}

func (b *builder) brokerCounters() brokerCounters {
	return brokerCounters{
		resubscribed: b.observed(nameResubscribed),
		acksDropped:  b.observed(nameAcksDropped),
		batched:      b.observed(nameBatched),
	}
}

func (b *builder) observed(name string) metric.Int64ObservableCounter {
	i := b.find(name)
	instrument, err := b.meter.Int64ObservableCounter(name, metric.WithUnit(i.Unit), metric.WithDescription(i.What))
	b.err = errors.Join(b.err, err)
	return instrument
}
