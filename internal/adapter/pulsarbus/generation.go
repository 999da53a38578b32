package pulsarbus

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/pulsar-client-go/pulsar"
)

// errStalled is why a consumer is replaced whose client gave up reconnecting.
var errStalled = errors.New("the client stopped reconnecting")

// generation is one consumer from its subscribe to its close. A subscription
// has one after the other.
type generation struct {
	consumer pulsar.Consumer
	lost     context.Context // ends when the consumer has to be replaced
	forget   context.CancelCauseFunc
	away     *atomic.Int32 // connections to partitions that are lost at the moment
	// acking is held by whoever acks or closes. An ack that passes the client's
	// check for a closed consumer and is queued behind the close is never
	// answered, so the two must not meet.
	acking chan struct{}
	closed bool // guarded by acking
}

var errGenerationClosed = errors.New("the consumer is closed")

// subscribe creates a consumer. It waits for the broker, about as long as
// ConnectionTimeout and OperationTimeout allow. ctx ends the generation.
func subscribe(ctx context.Context, client pulsar.Client, o Options) (*generation, error) {
	lost, forget := context.WithCancelCause(ctx)
	co := o.consumerOptions()
	away := new(atomic.Int32)
	co.BackOffPolicyFunc = watch(o.StallAfter, o.MaxBackoff, away, func() { forget(errStalled) })
	consumer, err := client.Subscribe(co)
	if err != nil {
		forget(err)
		return nil, fmt.Errorf("pulsarbus: subscribe %q to %q: %w", o.Subscription, o.Topic, err)
	}
	return &generation{consumer: consumer, lost: lost, forget: forget, away: away, acking: make(chan struct{}, 1)}, nil
}

// pump passes messages on until the generation is lost, and says why.
func (g *generation) pump(out chan<- pulsar.Message) error {
	for {
		msg, err := g.consumer.Receive(g.lost)
		if err != nil {
			if cause := context.Cause(g.lost); cause != nil {
				return cause
			}
			return err
		}
		select {
		case out <- msg:
		case <-g.lost.Done():
			return context.Cause(g.lost)
		}
	}
}

// ack sends acks and waits for the broker's answer.
func (g *generation) ack(ids []pulsar.MessageID) error {
	g.acking <- struct{}{}
	defer func() { <-g.acking }()
	if g.closed {
		return errGenerationClosed
	}
	return g.consumer.AckIDList(ids)
}

// close closes the consumer after the ack under way. When ctx ends first it
// closes all the same: an ack that waits that long waits for a reconnection,
// which the close ends.
func (g *generation) close(ctx context.Context) {
	g.forget(errGenerationClosed)
	if g.hold(ctx) {
		g.closed = true
		defer func() { <-g.acking }()
	}
	g.consumer.Close()
}

// hold takes acking; it tries even when ctx has ended.
func (g *generation) hold(ctx context.Context) bool {
	select {
	case g.acking <- struct{}{}:
		return true
	default:
	}
	select {
	case g.acking <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
