package intake

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// MessageID names one message of the subscription; comparable, so that a
// message delivered twice is recognised.
type MessageID struct {
	Partition int32
	Ledger    int64
	Entry     int64
}

// Delivery is a message as it arrived. Exactly one of Event and Poison is set.
type Delivery struct {
	ID           MessageID
	Key          string
	Event        *Event
	Poison       *Poison
	PublishedAt  time.Time
	Redeliveries uint32 // REDELIVER requests that the broker counted
	// Trace holds the W3C trace context properties of the message.
	Trace map[string]string
}

// Event is the reason to recompute a code.
type Event struct {
	push.Ref
	Reason     string // the producer's word, free text of at most 64 characters
	OccurredAt time.Time
	Note       string
}

// Poison is a message that nobody can act on.
type Poison struct {
	Cause   reason.Reason
	Detail  string
	Payload []byte // at most the first 64 KiB
}

// Subscription is the broker as this package needs it. Receive is called from
// one goroutine; the others from several.
type Subscription interface {
	// Receive waits for the next message. It survives a lost connection and a
	// closed consumer; it fails only when ctx ends or nothing can be done.
	Receive(ctx context.Context) (Delivery, error)
	// Ack tells the broker that the messages are done with. It does not wait
	// for the broker: a lost ack means a redelivery, which is harmless.
	Ack(ids ...MessageID)
	// Nack gives the messages back; the broker redelivers each to whoever
	// owns its key, within about a tenth of a second.
	Nack(ids ...MessageID)
	// DeadLetter stores the message with its cause in the dead-letter topic;
	// only a nil error allows the ack.
	DeadLetter(ctx context.Context, d Delivery) error
	// Joined delivers a value whenever a sibling has just subscribed: all that
	// is held has to be handed back. A lost value costs time only.
	Joined() <-chan struct{}
	// Flush waits until the acks so far are with the broker.
	Flush(ctx context.Context) error
}

// Refresher brings one code up to its facts. observe is called right before
// each read of the facts: every event received until then is covered by what
// that read returns. ctx carries the event, see TriggerOf, and the span.
type Refresher interface {
	Refresh(ctx context.Context, ref push.Ref, observe func()) push.Outcome
}
