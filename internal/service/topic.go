package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// topic publishes through the SDK, as any producer does.
type topic struct{ producer refresh.Publisher }

var (
	_ publish.Topic = topic{}
	_ fanout.Topic  = topic{}
)

// Publish stores one event.
func (t topic) Publish(ctx context.Context, ref push.Ref, why string, at time.Time) error {
	return t.producer.Publish(ctx, event(ref, why, at))
}

// PublishAll hands all events over before it waits for the first answer.
func (t topic) PublishAll(ctx context.Context, codes []push.Ref, why string, at time.Time) []error {
	events := make([]refresh.Event, len(codes))
	for i, ref := range codes {
		events[i] = event(ref, why, at)
	}
	return publishAll(ctx, t.producer, events, fanout.ErrUnpublishable)
}

func event(ref push.Ref, why string, at time.Time) refresh.Event {
	return refresh.Event{Tenant: ref.Tenant, Code: ref.Code, Reason: why, OccurredAt: at}
}

// answer is the broker's to one event.
type answer struct {
	event int
	err   error
}

var errNoAnswer = errors.New("stopped before the broker had answered")

// publishAll hands all events over before it waits for the first answer. When
// ctx ends it waits no longer: what has no answer counts as not stored. An event
// that the SDK refuses wraps final, unlike one that the broker did not store.
func publishAll(ctx context.Context, producer refresh.Publisher, events []refresh.Event, final error) []error {
	answers := make(chan answer, len(events)) // nobody who answers late has to wait
	for i, e := range events {
		producer.PublishAsync(ctx, e, func(err error) {
			if _, invalid := errors.AsType[*refresh.InvalidError](err); invalid {
				err = fmt.Errorf("%w: %w", final, err)
			}
			answers <- answer{i, err}
		})
	}
	errs := make([]error, len(events))
	for i := range errs {
		errs[i] = errNoAnswer
	}
	for range events {
		select {
		case a := <-answers:
			errs[a.event] = a.err
		case <-ctx.Done():
			return errs
		}
	}
	return errs
}
