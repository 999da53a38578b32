package pulsarbus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/intake"
)

// ahead is how many messages wait between the client and Receive: enough to
// spare the two goroutines a switch per message, few beside ReceiverQueueSize.
const ahead = 64

// ErrClosed is returned by Receive after Close.
var ErrClosed = errors.New("the subscription is closed")

// Subscription is one refresher's place in the Key_Shared subscription. It
// keeps its place over lost connections and lost consumers.
//
// Receive is for one goroutine; the other methods are for several. Close comes
// last: whatever is acked or nacked after it began may not reach the broker,
// which then delivers the message again.
type Subscription struct {
	o         Options
	client    pulsar.Client
	messages  chan pulsar.Message
	originals originals
	acks      *acks
	letters   deadLetterWriter
	counters  counters

	current atomic.Pointer[generation] // nil while there is none
	changed chan struct{}              // capacity 1: there is a new generation

	stopReceiving, stopAcking context.CancelFunc
	receiving                 <-chan struct{} // closed when stopReceiving was called
	receivers, ackers         sync.WaitGroup
	closing                   sync.Once
	closed                    chan struct{} // closed when everything is released
}

var _ intake.Subscription = (*Subscription)(nil)

type counters struct {
	resubscribed, acksDropped, foreign atomic.Int64
}

// Counters are what happened since Open.
type Counters struct {
	// Resubscribed is how often the consumer had to be replaced.
	Resubscribed int64
	// AcksDropped is how many acks were given up; each is a redelivery.
	AcksDropped int64
	// Batched is how many messages came in a batch: their producer does not
	// keep to docs/events.md and some of its keys are at the wrong consumer.
	Batched int64
}

// Open connects and subscribes. ctx carries values only: it ends neither the
// attempt, which takes at most about ConnectionTimeout and OperationTimeout,
// nor the subscription, which Close ends.
func Open(ctx context.Context, o Options) (*Subscription, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	client, err := newClient(o)
	if err != nil {
		return nil, err
	}
	s, err := open(context.WithoutCancel(ctx), client, o)
	if err != nil {
		client.Close()
		return nil, err
	}
	return s, nil
}

// open starts a subscription on a client that it owns from then on.
func open(ctx context.Context, client pulsar.Client, o Options) (*Subscription, error) {
	receiving, stopReceiving := context.WithCancel(ctx)
	first, err := subscribe(receiving, client, o)
	if err != nil {
		stopReceiving()
		return nil, err
	}
	acking, stopAcking := context.WithCancel(ctx)
	s := &Subscription{
		o: o, client: client, messages: make(chan pulsar.Message, ahead),
		letters: deadLetterWriter{client: client, o: o}, changed: make(chan struct{}, 1),
		stopReceiving: stopReceiving, stopAcking: stopAcking, receiving: receiving.Done(),
		closed: make(chan struct{}),
	}
	s.acks = newAcks(o, &s.counters.acksDropped, func(ids []pulsar.MessageID) error { return s.send(acking, ids) })
	s.current.Store(first)
	s.receivers.Go(func() { s.receive(receiving, first) })
	s.ackers.Go(func() { s.acks.run(acking) })
	return s, nil
}

// Receive waits for the next message; see intake.Subscription. It fails with
// ctx's error, or with ErrClosed. Heartbeats are acked here and go no further.
func (s *Subscription) Receive(ctx context.Context) (intake.Delivery, error) {
	for {
		select {
		case msg := <-s.messages:
			if IsHeartbeat(msg) {
				s.acks.add(msg.ID())
				s.o.OnHeartbeat(time.Since(msg.PublishTime()))
				continue
			}
			return s.read(msg), nil
		case <-ctx.Done():
			return intake.Delivery{}, ctx.Err()
		case <-s.receiving:
			return intake.Delivery{}, ErrClosed
		}
	}
}

func (s *Subscription) read(msg pulsar.Message) intake.Delivery {
	id := idOf(msg.ID())
	s.originals.keep(id, msg)
	if batched(id) && s.counters.foreign.Add(1) == 1 {
		s.o.Logger.Warn("a producer batches its events: keys may be at the wrong consumer",
			"producer", msg.ProducerName(), "message", msg.ID().String())
	}
	return read(id, msg)
}

// Ack notes that messages are done with; it does not wait for the broker. They
// are sent within AckInterval or so, and again until the broker confirms.
func (s *Subscription) Ack(ids ...intake.MessageID) {
	known := make([]pulsar.MessageID, 0, len(ids))
	for _, id := range ids {
		if original, ok := s.originals.take(id); ok {
			known = append(known, original)
		}
	}
	s.acks.add(known...)
}

// Nack gives messages back. The broker redelivers them after NackDelay and up
// to about half of that again. A message of a consumer that is gone is on its
// way already.
func (s *Subscription) Nack(ids ...intake.MessageID) {
	g := s.current.Load()
	for _, id := range ids {
		original, ok := s.originals.take(id)
		if ok && g != nil {
			g.consumer.NackID(original)
		}
	}
}

// Joined returns Options.Joins.
func (s *Subscription) Joined() <-chan struct{} { return s.o.Joins }

// Flush waits until the broker has confirmed the acks so far.
func (s *Subscription) Flush(ctx context.Context) error {
	if err := s.acks.flush(ctx); err != nil {
		return fmt.Errorf("pulsarbus: flush: %w", err)
	}
	return nil
}

// DeadLetter stores d's poison in the dead-letter topic and waits for the
// broker's confirmation. It may block for OperationTimeout.
func (s *Subscription) DeadLetter(ctx context.Context, d intake.Delivery) error {
	return s.letters.write(ctx, d)
}

// Counters returns what happened since Open.
func (s *Subscription) Counters() Counters {
	return Counters{
		Resubscribed: s.counters.resubscribed.Load(),
		AcksDropped:  s.counters.acksDropped.Load(),
		Batched:      s.counters.foreign.Load(),
	}
}

// Close stops receiving, flushes the acks and gives every other message back:
// the broker redelivers them at once. The caller has joined its workers before.
// An error says that acks were not confirmed, or that the broker did not answer
// before ctx ended; the connections are then released in the background, within
// about OperationTimeout. Closing twice waits for the first.
func (s *Subscription) Close(ctx context.Context) error {
	var err error
	s.closing.Do(func() {
		s.stopReceiving()
		err = s.Flush(ctx)
		s.stopAcking()
		go s.release(ctx)
	})
	select {
	case <-s.closed:
		return err
	case <-ctx.Done():
		return errors.Join(err, fmt.Errorf("pulsarbus: close: %w", ctx.Err()))
	}
}

// release joins the goroutines and closes what is left, in the order that
// keeps an ack from racing a close.
func (s *Subscription) release(ctx context.Context) {
	defer close(s.closed)
	s.receivers.Wait()
	if g := s.current.Load(); g != nil {
		g.close(ctx)
	}
	s.ackers.Wait()
	s.letters.close()
	s.client.Close()
}
