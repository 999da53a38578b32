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

// PublishAll hands all events over before it waits for the first answer. When
// ctx ends it waits no longer: what has no answer counts as not stored.
func (t topic) PublishAll(ctx context.Context, codes []push.Ref, why string, at time.Time) []error {
	answers := make(chan answer, len(codes)) // nobody who answers late has to wait
	for i, ref := range codes {
		t.producer.PublishAsync(ctx, event(ref, why, at), func(err error) { answers <- answer{i, unpublishable(err)} })
	}
	errs := make([]error, len(codes))
	for i := range errs {
		errs[i] = errNoAnswer
	}
	for range codes {
		select {
		case a := <-answers:
			errs[a.entry] = a.err
		case <-ctx.Done():
			return errs
		}
	}
	return errs
}

func event(ref push.Ref, why string, at time.Time) refresh.Event {
	return refresh.Event{Tenant: ref.Tenant, Code: ref.Code, Reason: why, OccurredAt: at}
}

// unpublishable tells an event that the SDK refuses from a broker that did not
// store it.
func unpublishable(err error) error {
	if _, invalid := errors.AsType[*refresh.InvalidError](err); invalid {
		return fmt.Errorf("%w: %w", fanout.ErrUnpublishable, err)
	}
	return err
}
