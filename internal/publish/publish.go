package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Topic stores reasons to recompute with the broker.
type Topic interface {
	// Publish stores a reason to recompute a code. why is the producer's word
	// for it, at most 64 bytes; at is when the fact was written.
	Publish(ctx context.Context, ref push.Ref, why string, at time.Time) error
}

// Place is where a reason to recompute was stored.
type Place string

// The places. Either is durable: the code will be recomputed.
const (
	Broker   Place = "broker"    // within seconds
	DirtySet Place = "dirty_set" // when the keeper next releases dirty codes
)

// Options of a Publisher. All are required.
type Options struct {
	// Timeout is how long the broker may take before the dirty set is used.
	Timeout time.Duration
	Now     func() time.Time
}

// Publisher stores reasons to recompute. It is safe for concurrent use.
type Publisher struct {
	topic Topic
	dirty push.Dirty
	opts  Options
}

// New returns a Publisher.
func New(topic Topic, dirty push.Dirty, opts Options) *Publisher {
	return &Publisher{topic: topic, dirty: dirty, opts: opts}
}

// Refresh stores a reason to recompute a code and says where. After an error
// it is stored nowhere as far as is known.
func (p *Publisher) Refresh(ctx context.Context, ref push.Ref, why string) (Place, error) {
	now := p.opts.Now()
	sending, cancel := context.WithTimeout(ctx, p.opts.Timeout)
	defer cancel()
	err := p.topic.Publish(sending, ref, why, now)
	if err == nil {
		return Broker, nil
	}
	mark := push.Mark{
		Ref: ref, Reason: reason.Unpublished, Due: now,
		Detail: fmt.Sprintf("the broker did not take the event %q", why),
	}
	if markErr := p.dirty.Mark(ctx, mark); markErr != nil {
		return "", fmt.Errorf("publish for code %s: %w", ref.Code, errors.Join(err, markErr))
	}
	return DirtySet, nil
}
