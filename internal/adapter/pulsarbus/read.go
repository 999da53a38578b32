package pulsarbus

import (
	"bytes"
	"errors"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// maxPoison is how much of a poison message's payload is kept.
const maxPoison = 64 << 10

// read turns a message into a delivery.
func read(id intake.MessageID, msg pulsar.Message) intake.Delivery {
	d := intake.Delivery{
		ID:           id,
		Key:          msg.Key(),
		PublishedAt:  msg.PublishTime(),
		Redeliveries: msg.RedeliveryCount(),
		Trace:        traceOf(msg.Properties()),
	}
	event, cause, err := readEvent(msg)
	if err != nil {
		d.Poison = &intake.Poison{Cause: cause, Detail: err.Error(), Payload: head(msg.Payload(), maxPoison)}
		return d
	}
	d.Event = &intake.Event{
		Ref:        push.Ref{Tenant: event.Tenant, Code: event.Code},
		Reason:     event.Reason,
		OccurredAt: event.OccurredAt,
		Note:       event.Note,
	}
	return d
}

var (
	errNoKey       = errors.New("the message has no key: the key of an event is its code")
	errKeyMismatch = errors.New("the message's key is not the code of its event")
)

// readEvent decodes a message, or says why it cannot be acted upon. Size comes
// first (nothing of an oversized payload is parsed), then the key, without
// which the broker could not keep the code with one consumer.
func readEvent(msg pulsar.Message) (refresh.Event, reason.Reason, error) {
	event, err := refresh.Decode(msg.Payload())
	var size *refresh.SizeError
	var version *refresh.VersionError
	switch {
	case errors.As(err, &size):
		return event, reason.TooLarge, err
	case msg.Key() == "":
		return event, reason.NoKey, errNoKey
	case errors.As(err, &version):
		return event, reason.WrongVersion, err
	case err != nil:
		return event, reason.Undecodable, err
	case msg.Key() != event.Code:
		return event, reason.KeyMismatch, errKeyMismatch
	}
	return event, "", nil
}

// head copies at most n bytes, so that a huge payload is not kept in memory by
// its beginning.
func head(payload []byte, n int) []byte { return bytes.Clone(payload[:min(len(payload), n)]) }

// The properties of W3C Trace Context.
const (
	traceParent = "traceparent"
	traceState  = "tracestate"
)

// traceOf picks the trace context out of a message's properties.
func traceOf(properties map[string]string) map[string]string {
	parent, ok := properties[traceParent]
	if !ok {
		return nil
	}
	trace := map[string]string{traceParent: parent}
	if state, ok := properties[traceState]; ok {
		trace[traceState] = state
	}
	return trace
}
