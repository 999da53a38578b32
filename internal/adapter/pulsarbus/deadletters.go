package pulsarbus

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/letters"
)

// ListDeadLetters reads the dead-letter topic, partition by partition and
// oldest first, until it has shown what was there when it began, or most letters
// (0: all), or ctx ends. It neither joins the subscription nor consumes
// anything, and shows dealt-with letters too until the broker has removed them;
// Letters.Waiting does not. After an error there is nothing more.
func ListDeadLetters(ctx context.Context, o Options, most int) iter.Seq2[letters.Letter, error] {
	return func(yield func(letters.Letter, error) bool) {
		l, err := openLetters(o.withDefaults())
		if err == nil {
			defer l.Close()
			err = l.list(ctx, most, everything, func(letter letters.Letter) bool { return yield(letter, nil) })
		}
		if err != nil {
			yield(letters.Letter{}, fmt.Errorf("pulsarbus: list the dead letters: %w", err))
		}
	}
}

// errEnough ends a listing whose caller has seen enough.
var errEnough = errors.New("enough")

// everything is the answer of a partition of which all letters are shown.
func everything(context.Context, string) (acked, error) { return acked{}, nil }

// list shows the letters of each partition that are not acked, as the caller
// finds out.
func (l *Letters) list(ctx context.Context, most int, find func(context.Context, string) (acked, error), show func(letters.Letter) bool) error {
	partitions, err := l.partitions()
	if err != nil {
		return err
	}
	shown := 0
	for partition, topic := range partitions {
		done, err := find(ctx, topic)
		if err != nil {
			return fmt.Errorf("ask for the acks of %q: %w", topic, err)
		}
		err = l.read(ctx, topic, pulsar.EarliestMessageID(), func(msg pulsar.Message) error {
			if done.has(positionOf(msg.ID())) {
				return nil
			}
			if shown++; !show(letterOn(partition, msg)) || shown == most {
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

// read shows a plain topic's messages from one on, up to its last one of now.
// The last message is asked for first: HasNext answers false to an error, which
// would look like the end of the list.
func (l *Letters) read(ctx context.Context, topic string, from pulsar.MessageID, show func(pulsar.Message) error) error {
	reader, err := l.client.CreateReader(pulsar.ReaderOptions{
		Topic:                   topic,
		StartMessageID:          from,
		StartMessageIDInclusive: true,
		ReceiverQueueSize:       100,
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
		if err := show(msg); err != nil {
			return err
		}
		more = positionOf(msg.ID()).before(positionOf(last))
	}
	return nil
}
