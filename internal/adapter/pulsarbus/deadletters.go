package pulsarbus

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/pulsar-client-go/pulsar"
)

// ListDeadLetters reads the dead-letter topic, partition by partition and
// oldest first, until it has shown what was there when it began, or most letters
// (0: all), or ctx ends. It neither joins the subscription nor consumes
// anything, and shows dealt-with letters too until the broker has removed them.
// After an error there is nothing more.
func ListDeadLetters(ctx context.Context, o Options, most int) iter.Seq2[DeadLetter, error] {
	return func(yield func(DeadLetter, error) bool) {
		err := listAll(ctx, o.withDefaults(), most, func(d DeadLetter) bool { return yield(d, nil) })
		if err != nil {
			yield(DeadLetter{}, fmt.Errorf("pulsarbus: list the dead letters: %w", err))
		}
	}
}

// errEnough ends a listing whose caller has seen enough.
var errEnough = errors.New("enough")

func listAll(ctx context.Context, o Options, most int, show func(DeadLetter) bool) error {
	if err := o.validate(); err != nil {
		return err
	}
	client, err := newClient(o)
	if err != nil {
		return err
	}
	defer client.Close()
	partitions, err := client.TopicPartitions(o.DeadLetterTopic)
	if err != nil {
		return fmt.Errorf("look up %q: %w", o.DeadLetterTopic, err)
	}
	shown := 0
	for _, topic := range partitions {
		err := listOne(ctx, client, topic, func(d DeadLetter) error {
			if shown++; !show(d) || shown == most {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %q: %w", topic, err)
		}
	}
	return nil
}

// listOne reads a plain topic up to its last message of now. The last message
// is asked for first: HasNext answers false to an error, which would look like
// the end of the list.
func listOne(ctx context.Context, client pulsar.Client, topic string, show func(DeadLetter) error) error {
	reader, err := client.CreateReader(pulsar.ReaderOptions{
		Topic:             topic,
		StartMessageID:    pulsar.EarliestMessageID(),
		ReceiverQueueSize: 100,
	})
	if err != nil {
		return err
	}
	defer reader.Close()
	last, err := reader.GetLastMessageID()
	if err != nil {
		return err
	}
	for more := last.EntryID() >= 0 && reader.HasNext(); more; {
		msg, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		if err := show(deadLetterOf(msg)); err != nil {
			return err
		}
		more = before(msg.ID(), last)
	}
	return nil
}

func before(a, b pulsar.MessageID) bool {
	if a.LedgerID() != b.LedgerID() {
		return a.LedgerID() < b.LedgerID()
	}
	return a.EntryID() < b.EntryID()
}
