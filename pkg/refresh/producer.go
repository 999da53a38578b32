package refresh

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/pulsar-client-go/pulsar"
	"go.opentelemetry.io/otel/propagation"
)

var (
	// ErrFull is an event refused because MaxPending others wait (see Refuse).
	ErrFull = errors.New("too many events wait for the broker")
	// ErrClosed is an event handed to a producer after its Close.
	ErrClosed = errors.New("the producer is closed")
)

// Producer publishes refresh events to one topic. Its methods may be called
// from several goroutines; one Producer a process is enough.
type Producer struct {
	out        pulsar.Producer
	propagator propagation.TextMapPropagator
	client     pulsar.Client // owned; nil when the caller owns it
	closing    sync.Once
}

var _ Publisher = (*Producer)(nil)

// New creates a Producer on a client that stays the caller's: close the
// producer first, then the client.
func New(client pulsar.Client, o Options) (*Producer, error) {
	if o.Topic == "" {
		return nil, errNoTopic
	}
	o = o.withDefaults()
	out, err := client.CreateProducer(o.producerOptions())
	if err != nil {
		return nil, fmt.Errorf("refresh: create a producer on %q: %w", o.Topic, err)
	}
	return &Producer{out: out, propagator: o.Propagator}, nil
}

// Dial connects to a broker, "pulsar://host:6650" or "pulsar+ssl://host:6651",
// and owns the connection: Close closes it too. The client's own metrics go to
// Prometheus's default registerer; who wants them elsewhere makes the client
// himself and calls New.
func Dial(url string, o Options) (*Producer, error) {
	if o.Topic == "" {
		return nil, errNoTopic
	}
	o = o.withDefaults()
	client, err := pulsar.NewClient(o.clientOptions(url))
	if err != nil {
		return nil, fmt.Errorf("refresh: create a client: %w", err)
	}
	p, err := New(client, o)
	if err != nil {
		client.Close()
		return nil, err
	}
	p.client = client
	return p, nil
}

// Publish stores an event; see Publisher. It waits for the broker's answer, at
// most SendTimeout, and less when ctx ends earlier. Beyond MaxPending it first
// waits for room, or fails with ErrFull, as WhenFull says.
func (p *Producer) Publish(ctx context.Context, e Event) error {
	msg, err := p.message(ctx, e)
	if err != nil {
		return failed(e, err)
	}
	_, err = p.out.Send(ctx, msg)
	return failed(e, err)
}

// PublishAsync hands an event over; see Publisher. done runs on the client's
// connection goroutine: whatever it does delays the producer's other events.
func (p *Producer) PublishAsync(ctx context.Context, e Event, done func(error)) {
	if done == nil {
		done = func(error) {}
	}
	msg, err := p.message(ctx, e)
	if err != nil {
		done(failed(e, err))
		return
	}
	p.out.SendAsync(ctx, msg, func(_ pulsar.MessageID, _ *pulsar.ProducerMessage, err error) {
		done(failed(e, err))
	})
}

// Flush waits for the events handed over before; see Publisher.
func (p *Producer) Flush(ctx context.Context) error {
	if err := p.out.FlushWithCtx(ctx); err != nil {
		return fmt.Errorf("refresh: flush: %w", err)
	}
	return nil
}

// Close waits for the pending events and releases the producer, and the
// connection when it came from Dial. Flush before it: an event that fails
// during Close is not tried again. Closing twice is allowed.
func (p *Producer) Close() {
	p.closing.Do(func() {
		p.out.Close()
		if p.client != nil {
			p.client.Close()
		}
	})
}

func (p *Producer) message(ctx context.Context, e Event) (*pulsar.ProducerMessage, error) {
	payload, err := Encode(e)
	if err != nil {
		return nil, err
	}
	properties := propagation.MapCarrier{}
	p.propagator.Inject(ctx, properties)
	return &pulsar.ProducerMessage{
		Payload:    payload,
		Key:        e.Code,
		EventTime:  e.OccurredAt,
		Properties: properties,
	}, nil
}

// failed says which code's event was not published, and translates the
// client's errors that a caller can act upon.
func failed(e Event, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pulsar.ErrSendQueueIsFull):
		err = errors.Join(ErrFull, err)
	case errors.Is(err, pulsar.ErrProducerClosed):
		err = errors.Join(ErrClosed, err)
	}
	return fmt.Errorf("refresh: publish the event of code %q: %w", cut(e.Code, MaxCode), err)
}
