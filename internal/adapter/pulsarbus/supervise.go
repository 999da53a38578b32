package pulsarbus

import (
	"context"

	"github.com/apache/pulsar-client-go/pulsar"
)

// receive passes messages on, from one consumer after the other, until ctx
// ends. The consumer of that moment stays open, for the acks that are left.
func (s *Subscription) receive(ctx context.Context, g *generation) {
	for {
		err := g.pump(s.messages)
		if ctx.Err() != nil {
			return
		}
		s.o.Logger.Warn("consumer lost, subscribing anew", "topic", s.o.Topic, "error", err)
		s.current.Store(nil)
		g.close(ctx)
		s.forget()
		if g = s.resubscribe(ctx); g == nil {
			return
		}
		s.counters.resubscribed.Add(1)
		s.current.Store(g)
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
}

// forget drops what belongs to a consumer that is gone. The broker delivers it
// again, and what Receive took in between is recognized by its ID.
func (s *Subscription) forget() {
	for {
		select {
		case <-s.messages:
		default:
			s.originals.clear()
			return
		}
	}
}

// resubscribe tries until it has a consumer; nil when ctx ends first.
func (s *Subscription) resubscribe(ctx context.Context) *generation {
	for wait := (pace{most: s.o.MaxBackoff}); ; {
		g, err := subscribe(ctx, s.client, s.o)
		if err == nil {
			return g
		}
		s.o.Logger.Warn("cannot subscribe, trying again", "error", err)
		if !sleep(ctx, wait.next()) {
			return nil
		}
	}
}

// send acks through the consumer of the moment, waiting for one if need be.
func (s *Subscription) send(ctx context.Context, ids []pulsar.MessageID) error {
	for {
		if g := s.current.Load(); g != nil {
			return g.ack(ids)
		}
		select {
		case <-s.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
