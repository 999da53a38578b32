package recent

import (
	"context"
	"fmt"
	"time"
)

// Answer is an answer that is expensive to get and is given again for a while. A
// failure is not remembered. Who asks while another does waits for that answer, or
// for the end of his own patience. It is safe for concurrent use.
type Answer[T any] struct {
	ask  func(context.Context) (T, error)
	keep time.Duration
	now  func() time.Time
	turn chan struct{} // holds one while somebody asks or looks; guards what follows
	last T
	at   time.Time
}

// NewAnswer returns an Answer that asks anew when the last one is keep old, by now.
func NewAnswer[T any](keep time.Duration, now func() time.Time, ask func(context.Context) (T, error)) *Answer[T] {
	return &Answer[T]{ask: ask, keep: keep, now: now, turn: make(chan struct{}, 1)}
}

// Get returns the answer; it is shared, and not to be changed. The error is ask's,
// or ctx's while another asks.
func (a *Answer[T]) Get(ctx context.Context) (T, error) {
	var none T
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return none, fmt.Errorf("wait for another's answer: %w", ctx.Err())
	}
	defer func() { <-a.turn }()
	if !a.at.IsZero() && a.now().Sub(a.at) < a.keep {
		return a.last, nil
	}
	answer, err := a.ask(ctx)
	if err != nil {
		return none, err
	}
	a.last, a.at = answer, a.now() // getting it may have taken longer than it is kept
	return answer, nil
}
