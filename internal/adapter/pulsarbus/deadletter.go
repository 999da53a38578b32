package pulsarbus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// The properties of a dead letter, beside the trace context of the original.
const (
	propCause        = "rollcall-cause"
	propDetail       = "rollcall-detail"
	propMessageID    = "rollcall-message-id"   // ledger:entry:partition[:batch index]
	propPublishedAt  = "rollcall-published-at" // RFC 3339, UTC
	propTopic        = "rollcall-topic"
	propSubscription = "rollcall-subscription"
)

// maxDetail bounds the detail in a property, in bytes.
const maxDetail = 1024

var errNoPoison = errors.New("pulsarbus: a dead letter needs a cause, and the delivery has no poison")

// deadLetterWriter stores dead letters. It connects at the first one, so that
// a broken dead-letter topic does not keep a refresher from starting.
type deadLetterWriter struct {
	client pulsar.Client
	o      Options

	mu       sync.Mutex
	producer pulsar.Producer
}

func (w *deadLetterWriter) write(ctx context.Context, d intake.Delivery) error {
	if d.Poison == nil {
		return errNoPoison
	}
	producer, err := w.open()
	if err != nil {
		return err
	}
	if _, err := producer.Send(ctx, letterOf(d, w.o)); err != nil {
		return fmt.Errorf("pulsarbus: store a dead letter in %q: %w", w.o.DeadLetterTopic, err)
	}
	return nil
}

// open returns the producer, creating it and what keeps its messages first.
func (w *deadLetterWriter) open() (pulsar.Producer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.producer != nil {
		return w.producer, nil
	}
	if err := w.keepLetters(); err != nil {
		return nil, fmt.Errorf("pulsarbus: create the subscription that keeps %q: %w", w.o.DeadLetterTopic, err)
	}
	producer, err := w.client.CreateProducer(pulsar.ProducerOptions{
		Topic:                   w.o.DeadLetterTopic,
		SendTimeout:             w.o.OperationTimeout,
		DisableBatching:         true,
		DisableBlockIfQueueFull: true,
		HashingScheme:           pulsar.JavaStringHash,
	})
	if err != nil {
		return nil, fmt.Errorf("pulsarbus: create a producer on %q: %w", w.o.DeadLetterTopic, err)
	}
	w.producer = producer
	return producer, nil
}

// keepLetters makes the durable subscription, by being its consumer for a
// moment. Shared, so that an operator's consumer does not get into its way.
func (w *deadLetterWriter) keepLetters() error {
	keeper, err := w.client.Subscribe(w.o.letterConsumer(w.o.DeadLetterTopic))
	if err != nil {
		return err
	}
	keeper.Close()
	return nil
}

func (w *deadLetterWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.producer != nil {
		w.producer.Close()
	}
}

// letterOf is the message that explains d.
func letterOf(d intake.Delivery, o Options) *pulsar.ProducerMessage {
	properties := map[string]string{
		propCause:        d.Poison.Cause.String(),
		propDetail:       strings.ToValidUTF8(d.Poison.Detail[:min(len(d.Poison.Detail), maxDetail)], ""),
		propMessageID:    printed(d.ID),
		propPublishedAt:  d.PublishedAt.UTC().Format(time.RFC3339Nano),
		propTopic:        o.Topic,
		propSubscription: o.Subscription,
	}
	maps.Copy(properties, d.Trace)
	return &pulsar.ProducerMessage{Key: d.Key, Payload: d.Poison.Payload, Properties: properties}
}

// printed is a message ID as Pulsar's tools print it.
func printed(id intake.MessageID) string {
	s := fmt.Sprintf("%d:%d:%d", id.Ledger, id.Entry&entryMask, id.Partition)
	if batched(id) {
		s += fmt.Sprintf(":%d", id.Entry>>batchShift-1)
	}
	return s
}

// letterFrom is the letter that a message of the dead-letter topic holds; its ID
// is that of the message.
func letterFrom(msg pulsar.Message) letters.Letter {
	p := msg.Properties()
	published, _ := time.Parse(time.RFC3339Nano, p[propPublishedAt]) // zero: not one of ours
	return letters.Letter{
		ID: msg.ID().String(), OriginalID: p[propMessageID], Topic: p[propTopic], Key: msg.Key(),
		Cause: reason.Reason(p[propCause]), Detail: p[propDetail],
		Payload: msg.Payload(), Truncated: len(msg.Payload()) >= maxPoison,
		PublishedAt: published, BuriedAt: msg.PublishTime(), Properties: p,
	}
}
