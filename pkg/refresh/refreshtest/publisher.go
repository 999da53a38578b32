// Package refreshtest helps to test code that publishes refresh events.
//
// It owns a Publisher in memory and the checks that every refresh.Publisher
// passes. It refuses to imitate a broker: what it records is what was handed
// over, in that order, and nothing is delivered to anyone.
package refreshtest

import (
	"context"
	"slices"
	"sync"

	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// Publisher records events. The zero value is ready and accepts every valid
// event; its methods may be called from several goroutines.
type Publisher struct {
	mu      sync.Mutex
	events  []refresh.Event
	failing func(refresh.Event) error
	changed chan struct{} // closed and replaced when events grows
}

var _ refresh.Publisher = (*Publisher)(nil)

// Publish records the event, or returns what Validate or the function given to
// FailWith says. A context that has ended is an error, as with a broker.
func (p *Publisher) Publish(ctx context.Context, e refresh.Event) error {
	if err := e.Validate(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failing != nil {
		if err := p.failing(e); err != nil {
			return err
		}
	}
	p.events = append(p.events, e)
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
	return nil
}

// PublishAsync is Publish with a callback, which runs before it returns.
func (p *Publisher) PublishAsync(ctx context.Context, e refresh.Event, done func(error)) {
	err := p.Publish(ctx, e)
	if done != nil {
		done(err)
	}
}

// Flush returns at once: nothing is ever pending.
func (p *Publisher) Flush(ctx context.Context) error { return ctx.Err() }

// FailWith makes publishing ask fail for every valid event: an error it returns
// is returned to the producer and the event is not recorded. nil ends it. fail
// must not call the Publisher.
func (p *Publisher) FailWith(fail func(refresh.Event) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing = fail
}

// Events returns what was published so far, in order.
func (p *Publisher) Events() []refresh.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.events)
}

// Await returns the first event, published already or in future, for which
// match is true; it fails when ctx ends first. match must not call the
// Publisher.
func (p *Publisher) Await(ctx context.Context, match func(refresh.Event) bool) (refresh.Event, error) {
	for seen := 0; ; {
		fresh, changed := p.since(seen)
		if i := slices.IndexFunc(fresh, match); i >= 0 {
			return fresh[i], nil
		}
		seen += len(fresh)
		select {
		case <-ctx.Done():
			return refresh.Event{}, ctx.Err()
		case <-changed:
		}
	}
}

// since returns the events from index n on and a channel that is closed when
// there are more.
func (p *Publisher) since(n int) ([]refresh.Event, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return slices.Clone(p.events[n:]), p.changed
}
