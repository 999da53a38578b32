package pulsarbus

import (
	"context"
	"errors"
	"fmt"
)

var errNoConsumer = errors.New("pulsarbus: there is no consumer, subscribing anew")

// Connected fails while messages cannot arrive: the consumer is being replaced,
// or its connection to a partition is lost. It asks nobody: a broker that says
// nothing any more is noticed after two intervals of Options.KeepAlive.
func (s *Subscription) Connected(context.Context) error {
	g := s.current.Load()
	if g == nil {
		return errNoConsumer
	}
	if n := g.away.Load(); n > 0 {
		return fmt.Errorf("pulsarbus: the connection to %d of the topic's partitions is lost, reconnecting", n)
	}
	return nil
}
