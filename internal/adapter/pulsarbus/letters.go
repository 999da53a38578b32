package pulsarbus

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/letters"
)

// Letters is the dead-letter topic as an operator deals with it. It is
// letters.Box.
//
// A letter is dealt with when the operator's subscription has acked it. The
// binary protocol tells nobody what a subscription has acked: a reader shows
// every message that the broker still has, and a consumer of the subscription
// shares what is left with every other one and never learns that it has seen
// all. So Letters reads with a reader, which takes nothing from anybody, and
// asks the admin API for the acks of the subscription, which is one answer as
// of one instant.
type Letters struct {
	client pulsar.Client
	admin  *Admin
	o      Options
}

var _ letters.Box = (*Letters)(nil)

// OpenLetters prepares the connection. The admin stays the caller's. Of the
// options those of the connection count, and those of dead letters.
func OpenLetters(o Options, admin *Admin) (*Letters, error) {
	l, err := openLetters(o.withDefaults())
	if err != nil {
		return nil, err
	}
	l.admin = admin
	return l, nil
}

func openLetters(o Options) (*Letters, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	client, err := newClient(o)
	if err != nil {
		return nil, err
	}
	return &Letters{client: client, o: o}, nil
}

// Close closes the connection.
func (l *Letters) Close() { l.client.Close() }

// Waiting yields the letters that nobody has dealt with, partition by partition
// and oldest first, at most most (0: all) of those that were there when it
// began. It leaves them where they are. After an error there is nothing more.
func (l *Letters) Waiting(ctx context.Context, most int) iter.Seq2[letters.Letter, error] {
	return func(yield func(letters.Letter, error) bool) {
		err := l.list(ctx, most, l.acked, func(letter letters.Letter) bool { return yield(letter, nil) })
		if err != nil {
			yield(letters.Letter{}, fmt.Errorf("pulsarbus: list the dead letters: %w", err))
		}
	}
}

// Get returns a letter that nobody has dealt with. One that the broker has
// removed since it was dealt with counts as dealt with.
func (l *Letters) Get(ctx context.Context, id string) (letters.Letter, error) {
	letter, err := l.get(ctx, id)
	if err != nil {
		return letters.Letter{}, fmt.Errorf("dead letter %s: %w", id, err)
	}
	return letter, nil
}

func (l *Letters) get(ctx context.Context, id string) (letters.Letter, error) {
	partition, topic, at, err := l.find(id)
	if err != nil {
		return letters.Letter{}, err
	}
	done, err := l.acked(ctx, topic)
	if err != nil {
		return letters.Letter{}, fmt.Errorf("ask for the acks of %q: %w", topic, err)
	}
	if done.has(at) {
		return letters.Letter{}, letters.ErrSettled
	}
	found, err := letters.Letter{}, letters.ErrUnknown
	wrong := l.read(ctx, topic, at.messageID(), func(msg pulsar.Message) error {
		if positionOf(msg.ID()) == at {
			found, err = letterOn(partition, msg), nil
		}
		return errEnough
	})
	if wrong != nil && !errors.Is(wrong, errEnough) {
		return letters.Letter{}, fmt.Errorf("read %q: %w", topic, wrong)
	}
	return found, err
}

// Settle acks a letter on the operator's subscription, and waits for the
// broker's answer. The broker takes an ack of what it has not delivered to this
// consumer, and one of what is acked already.
func (l *Letters) Settle(_ context.Context, id string) error {
	if err := l.settle(id); err != nil {
		return fmt.Errorf("settle dead letter %s: %w", id, err)
	}
	return nil
}

func (l *Letters) settle(id string) error {
	_, topic, at, err := l.find(id)
	if err != nil {
		return err
	}
	consumer, err := l.client.Subscribe(l.o.letterConsumer(topic))
	if err != nil {
		return fmt.Errorf("subscribe %q to %q: %w", l.o.DeadLetterSubscription, topic, err)
	}
	defer consumer.Close()
	return consumer.AckIDList([]pulsar.MessageID{at.messageID()})
}

// letterConsumer joins the subscription that keeps dead letters. What the broker
// delivers to it is not acked by that, and goes back when it is closed.
func (o Options) letterConsumer(topic string) pulsar.ConsumerOptions {
	return pulsar.ConsumerOptions{
		Topic:                       topic,
		SubscriptionName:            o.DeadLetterSubscription,
		Type:                        pulsar.Shared,
		SubscriptionInitialPosition: pulsar.SubscriptionPositionEarliest,
		ReceiverQueueSize:           1,
		AckWithResponse:             true,
	}
}

// find returns the partition, its topic and the place there that an ID names.
func (l *Letters) find(id string) (partition int, topic string, at position, err error) {
	partition, at, ok := parseID(id)
	if !ok {
		return 0, "", at, letters.ErrUnknown
	}
	topics, err := l.partitions()
	if err != nil {
		return 0, "", at, err
	}
	if partition >= len(topics) {
		return 0, "", at, letters.ErrUnknown
	}
	return partition, topics[partition], at, nil
}

// partitions are the plain topics of the dead-letter topic.
func (l *Letters) partitions() ([]string, error) {
	topics, err := l.client.TopicPartitions(l.o.DeadLetterTopic)
	if err != nil {
		return nil, fmt.Errorf("look up %q: %w", l.o.DeadLetterTopic, err)
	}
	return topics, nil
}

// acked asks which of a plain topic's letters are dealt with.
func (l *Letters) acked(ctx context.Context, topic string) (acked, error) {
	return l.admin.acked(ctx, topic, l.o.DeadLetterSubscription)
}

// letterOn is a letter with the number of its partition in its ID, which a
// reader of one partition does not know.
func letterOn(partition int, msg pulsar.Message) letters.Letter {
	letter := letterFrom(msg)
	letter.ID = fmt.Sprintf("%d:%d:%d", msg.ID().LedgerID(), msg.ID().EntryID(), partition)
	return letter
}

// parseID reads "ledger:entry:partition".
func parseID(id string) (partition int, at position, ok bool) {
	parts := strings.Split(id, ":")
	if len(parts) != 3 {
		return 0, at, false
	}
	var numbers [3]int64
	for i, part := range parts {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 0 {
			return 0, at, false
		}
		numbers[i] = n
	}
	return int(numbers[2]), position{ledger: numbers[0], entry: numbers[1]}, true
}
