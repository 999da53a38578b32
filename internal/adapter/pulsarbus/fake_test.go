package pulsarbus

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/intake"
)

// fakeClient hands out consumers and producers in the order of its scripts;
// beyond them subscribing fails.
type fakeClient struct {
	pulsar.Client
	mu         sync.Mutex
	consumers  []*fakeConsumer
	subscribed int
	asked      []pulsar.ConsumerOptions
	producer   *fakeProducer
	closed     bool
}

func (c *fakeClient) Subscribe(o pulsar.ConsumerOptions) (pulsar.Consumer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, o)
	if c.subscribed == len(c.consumers) || c.consumers[c.subscribed] == nil {
		c.subscribed = min(c.subscribed+1, len(c.consumers))
		return nil, errors.New("broker away")
	}
	c.subscribed++
	return c.consumers[c.subscribed-1], nil
}

func (c *fakeClient) CreateProducer(pulsar.ProducerOptions) (pulsar.Producer, error) {
	if c.producer == nil {
		return nil, errors.New("not allowed")
	}
	return c.producer, nil
}

func (c *fakeClient) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// attempts is how often Subscribe was called.
func (c *fakeClient) attempts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asked)
}

// fakeConsumer delivers what is put into messages and remembers acks and nacks.
type fakeConsumer struct {
	pulsar.Consumer
	messages chan pulsar.Message
	broken   chan struct{}     // closed: Receive fails
	answer   func(n int) error // of the nth AckIDList, from 1; nil: success
	gate     chan struct{}     // not nil: AckIDList waits for it to be closed

	mu     sync.Mutex
	calls  int
	acked  []pulsar.MessageID
	nacked []pulsar.MessageID
	closed bool
}

func newConsumer(messages ...pulsar.Message) *fakeConsumer {
	c := &fakeConsumer{messages: make(chan pulsar.Message, len(messages)), broken: make(chan struct{})}
	for _, m := range messages {
		c.messages <- m
	}
	return c
}

func (c *fakeConsumer) Receive(ctx context.Context) (pulsar.Message, error) {
	select {
	case m := <-c.messages:
		return m, nil
	case <-c.broken:
		return nil, errors.New("consumer closed")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *fakeConsumer) AckIDList(ids []pulsar.MessageID) error {
	if c.gate != nil {
		<-c.gate
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errors.New("consumer state is closed")
	}
	c.calls++
	if c.answer != nil {
		if err := c.answer(c.calls); err != nil {
			return err
		}
	}
	c.acked = append(c.acked, ids...)
	return nil
}

func (c *fakeConsumer) NackID(id pulsar.MessageID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nacked = append(c.nacked, id)
}

func (c *fakeConsumer) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// state is a copy of what happened to the consumer.
func (c *fakeConsumer) state() (acked, nacked []pulsar.MessageID, calls int, closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.acked), slices.Clone(c.nacked), c.calls, c.closed
}

// fakeProducer stores messages, or fails as told.
type fakeProducer struct {
	pulsar.Producer
	sent   []*pulsar.ProducerMessage
	fail   error
	closed bool
}

func (p *fakeProducer) Send(_ context.Context, m *pulsar.ProducerMessage) (pulsar.MessageID, error) {
	if p.fail != nil {
		return nil, p.fail
	}
	p.sent = append(p.sent, m)
	return pulsar.NewMessageID(1, 1, -1, 0), nil
}

func (p *fakeProducer) Close() { p.closed = true }

// fakeMessage is a message as the client shows it.
type fakeMessage struct {
	pulsar.Message
	id           pulsar.MessageID
	key          string
	payload      []byte
	properties   map[string]string
	published    time.Time
	redeliveries uint32
}

func (m fakeMessage) ID() pulsar.MessageID          { return m.id }
func (m fakeMessage) Key() string                   { return m.key }
func (m fakeMessage) Payload() []byte               { return m.payload }
func (m fakeMessage) Properties() map[string]string { return m.properties }
func (m fakeMessage) PublishTime() time.Time        { return m.published }
func (m fakeMessage) RedeliveryCount() uint32       { return m.redeliveries }
func (m fakeMessage) ProducerName() string          { return "fake" }

// batchID is the ID of one message of a batch.
type batchID struct {
	pulsar.MessageID
	index, size int32
}

func (b batchID) BatchIdx() int32  { return b.index }
func (b batchID) BatchSize() int32 { return b.size }

const validPayload = `{"v":1,"tenant":"t","code":"c-1","reason":"edited","occurred_at":"2026-03-04T05:06:07Z","note":"n"}`

// message is a valid event with entry n.
func message(n int64) fakeMessage {
	return fakeMessage{id: pulsar.NewMessageID(7, n, -1, 0), key: "c-1", payload: []byte(validPayload)}
}

func id(n int64) intake.MessageID { return intake.MessageID{Ledger: 7, Entry: n} }

func testOptions() Options {
	o := Options{URL: "pulsar://x", Topic: "topic", Logger: slog.New(slog.DiscardHandler)}
	return o.withDefaults()
}

// entries are the entry numbers of IDs.
func entries(ids []pulsar.MessageID) []int64 {
	list := make([]int64, len(ids))
	for i, id := range ids {
		list[i] = id.EntryID()
	}
	return list
}
