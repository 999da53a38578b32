package intake

import (
	"context"
	"time"
)

// Trigger is the event for which a refresh began, the newest of its code then.
type Trigger struct {
	Reason      string // the producer's word
	Message     MessageID
	PublishedAt time.Time
}

type triggerKey struct{}

// WithTrigger is a context of a refresh for an event.
func WithTrigger(ctx context.Context, t Trigger) context.Context {
	return context.WithValue(ctx, triggerKey{}, t)
}

// TriggerOf returns the event behind the refresh that ctx belongs to; false when
// ctx is of none.
func TriggerOf(ctx context.Context) (Trigger, bool) {
	t, ok := ctx.Value(triggerKey{}).(Trigger)
	return t, ok
}

func (m message) trigger() Trigger {
	return Trigger{Reason: m.event.Reason, Message: m.id, PublishedAt: m.published}
}
