package pulsarbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/preflight"
)

// Visitor tries what producers and consumers do, without publishing anything
// and without taking a message from anybody.
//
// The client library waits and tries again whatever is wrong, and tells the
// cause to its log alone; a Visitor's errors carry it.
type Visitor struct {
	topic  string
	client pulsar.Client
	heard  *lastComplaint
}

var _ preflight.Broker = (*Visitor)(nil)

// NewVisitor makes a Visitor; it does not connect. Of o it uses the connection
// settings and the topic.
func NewVisitor(o Options) (*Visitor, error) {
	heard := &lastComplaint{}
	o = o.withDefaults()
	o.Logger = slog.New(heard)
	client, err := newClient(o)
	if err != nil {
		return nil, err
	}
	return &Visitor{topic: o.Topic, client: client, heard: heard}, nil
}

// Close closes the connections.
func (v *Visitor) Close() { v.client.Close() }

// Connect connects, shows the credentials and asks about a partition: unlike a
// question about a topic, that one never makes the broker create it. Any answer
// will do.
func (v *Visitor) Connect(context.Context) error {
	_, err := v.client.TopicPartitions(partition(v.topic))
	if err != nil && (strings.Contains(err.Error(), "AuthorizationError") || strings.Contains(err.Error(), "TopicNotFound")) {
		return nil
	}
	if refusal, _ := v.heard.get(); err != nil && refusal != "" {
		return fmt.Errorf("%w: the broker refuses our credentials: %s", preflight.ErrForbidden, refusal)
	}
	return v.explained("connect to the broker", err)
}

// partition is the name of a topic's first partition.
func partition(topic string) string { return topic + "-partition-0" }

// Produce opens a producer and closes it.
func (v *Visitor) Produce(_ context.Context, topic string) error {
	producer, err := v.client.CreateProducer(pulsar.ProducerOptions{Topic: topic, DisableBatching: true})
	if err != nil {
		return v.explained("open a producer", err)
	}
	producer.Close()
	return nil
}

// Consume opens a reader on the first partition, behind its newest message, and
// closes it: a reader has a subscription of its own, that goes with it.
func (v *Visitor) Consume(_ context.Context, topic string) error {
	partitions, err := v.client.TopicPartitions(topic)
	if err != nil || len(partitions) == 0 {
		return v.explained("look the topic up", cmp.Or(err, errors.New("no partition")))
	}
	reader, err := v.client.CreateReader(pulsar.ReaderOptions{
		Topic: partitions[0], StartMessageID: pulsar.LatestMessageID(), ReceiverQueueSize: 1,
	})
	if err != nil {
		return v.explained("open a reader", err)
	}
	reader.Close()
	return nil
}

// explained adds what the client library told its log last to an error, which may
// be another attempt's, and makes a refusal one that preflight knows.
func (v *Visitor) explained(what string, err error) error {
	if err == nil {
		return nil
	}
	_, cause := v.heard.get()
	switch {
	case strings.Contains(err.Error(), "AuthorizationError"):
		return fmt.Errorf("%s: %w: %w", what, preflight.ErrForbidden, err)
	case cause != "" && !strings.Contains(err.Error(), cause):
		return fmt.Errorf("%s: %w (%s)", what, bare(err), cause)
	}
	return fmt.Errorf("%s: %w", what, bare(err))
}

// lastComplaint is a log handler that remembers why the client library could
// not go on: the broker's own refusal, or else the last error it warned of.
type lastComplaint struct {
	mu             sync.Mutex
	refusal, cause string
}

func (c *lastComplaint) get() (refusal, cause string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refusal, c.cause
}

func (c *lastComplaint) hear(a slog.Attr) bool {
	if a.Key != "error" {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cause = a.Value.String()
	return false
}

// Enabled reports whether a level complains.
func (c *lastComplaint) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// refused is how the library begins to tell what the broker answered to our
// credentials.
const refused = "Failed to establish connection with broker: "

// Handle remembers what a record complains of.
func (c *lastComplaint) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(c.hear)
	if said, found := strings.CutPrefix(r.Message, refused); found {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refusal = said
	}
	return nil
}

// WithAttrs remembers an error among them.
func (c *lastComplaint) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		c.hear(a)
	}
	return c
}

// WithGroup changes nothing.
func (c *lastComplaint) WithGroup(string) slog.Handler { return c }
