package fanouttest

import (
	"context"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// Event is one that the broker has stored.
type Event struct {
	push.Ref
	Why    string
	At     time.Time // of the request
	Stored time.Time // by the clock of the machine
	Batch  int       // from 0
}

// Topic is fanout.Topic in memory. A hook that fails OpPublish fails all codes
// of a batch.
type Topic struct {
	Hooks
	// Answer, when set, says what becomes of one code: an error, with which it
	// is not stored. Set it while nobody uses the fake.
	Answer func(ctx context.Context, ref push.Ref) error

	mu      sync.Mutex
	events  []Event
	batches int
}

var _ fanout.Topic = (*Topic)(nil)

// NewTopic returns an empty topic.
func NewTopic() *Topic { return &Topic{} }

// PublishAll stores the codes one after the other.
func (t *Topic) PublishAll(ctx context.Context, codes []push.Ref, why string, at time.Time) []error {
	answers := make([]error, len(codes))
	err := t.Do(ctx, OpPublish, func() {
		batch := t.batch()
		for i, ref := range codes {
			if t.Answer != nil {
				answers[i] = t.Answer(ctx, ref)
			}
			if answers[i] == nil {
				t.store(Event{Ref: ref, Why: why, At: at, Stored: time.Now(), Batch: batch})
			}
		}
	})
	if err != nil {
		for i := range answers {
			answers[i] = err
		}
	}
	return answers
}

func (t *Topic) batch() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batches++
	return t.batches - 1
}

func (t *Topic) store(event Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, event)
}

// Events are those stored, in their order.
func (t *Topic) Events() []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Event(nil), t.events...)
}
