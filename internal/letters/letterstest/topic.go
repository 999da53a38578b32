package letterstest

import (
	"context"
	"slices"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/letters"
)

// TopicName is that of a Topic.
const TopicName = "persistent://public/default/rollcall-refresh"

// Topic is a letters.Topic in memory.
type Topic struct {
	fanouttest.Hooks

	mu     sync.Mutex
	events []letters.Event
}

var _ letters.Topic = (*Topic)(nil)

// Name is TopicName.
func (*Topic) Name() string { return TopicName }

// Publish stores an event.
func (t *Topic) Publish(ctx context.Context, e letters.Event) error {
	return t.Do(ctx, OpPublish, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.events = append(t.events, e)
	})
}

// Events returns what was published.
func (t *Topic) Events() []letters.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.events)
}
