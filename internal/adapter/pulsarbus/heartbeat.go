package pulsarbus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

// propHeartbeat marks a heartbeat; its value is the number of its partition.
const propHeartbeat = "rollcall-heartbeat"

// IsHeartbeat says whether a message of the topic of refresh events is a
// heartbeat: it carries no event.
func IsHeartbeat(msg pulsar.Message) bool {
	_, ok := msg.Properties()[propHeartbeat]
	return ok
}

// Heart publishes heartbeats on the topic of refresh events. A broker can leave
// messages in its replay queue until the next one is published (docs/design.md
// section 1 has the case); a heartbeat is that next one. On its way it measures
// what an event would have met.
type Heart struct {
	client   pulsar.Client
	topic    string
	timeout  time.Duration
	producer pulsar.Producer // nil until the first beat
	beats    uint64
}

// NewHeart connects at its first beat. Close ends it.
func NewHeart(o Options) (*Heart, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	client, err := newClient(o)
	if err != nil {
		return nil, err
	}
	return &Heart{client: client, topic: o.Topic, timeout: o.OperationTimeout}, nil
}

// Beat publishes one heartbeat on every partition and waits for the broker, for
// each at most OperationTimeout. It is for one goroutine. Each beat has another
// key, so that in time every consumer gets some.
func (h *Heart) Beat(ctx context.Context) error {
	if err := h.open(); err != nil {
		return err
	}
	partitions, err := h.client.TopicPartitions(h.topic)
	if err != nil {
		return fmt.Errorf("pulsarbus: list the partitions of %q: %w", h.topic, err)
	}
	h.beats++
	answers := make(chan error, len(partitions))
	for n := range partitions {
		h.producer.SendAsync(ctx, &pulsar.ProducerMessage{
			Key:        fmt.Sprintf("heartbeat-%d-%d", h.beats, n),
			Properties: map[string]string{propHeartbeat: strconv.Itoa(n)},
		}, func(_ pulsar.MessageID, _ *pulsar.ProducerMessage, err error) { answers <- err })
	}
	failed := make([]error, len(partitions))
	for n := range partitions {
		failed[n] = <-answers
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("pulsarbus: publish a heartbeat on %q: %w", h.topic, err)
	}
	return nil
}

func (h *Heart) open() error {
	if h.producer != nil {
		return nil
	}
	producer, err := h.client.CreateProducer(pulsar.ProducerOptions{
		Topic:                   h.topic,
		SendTimeout:             h.timeout,
		DisableBatching:         true,
		DisableBlockIfQueueFull: true,
		MessageRouter:           toItsPartition,
	})
	if err != nil {
		return fmt.Errorf("pulsarbus: create a producer on %q: %w", h.topic, err)
	}
	h.producer = producer
	return nil
}

// toItsPartition routes a heartbeat. The client looks for new partitions once a
// minute: a beat for one that it does not know yet goes to another.
func toItsPartition(msg *pulsar.ProducerMessage, topic pulsar.TopicMetadata) int {
	n, err := strconv.Atoi(msg.Properties[propHeartbeat])
	if err != nil {
		return 0
	}
	return n % int(topic.NumPartitions())
}

// Close releases the connection.
func (h *Heart) Close() {
	if h.producer != nil {
		h.producer.Close()
	}
	h.client.Close()
}
