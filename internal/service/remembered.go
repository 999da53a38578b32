package service

import (
	"context"
	"time"
)

// remembered gives an answer that is expensive to get once more, for a while. A
// failure is not remembered. Who asks while another does waits for that answer,
// or for the end of his own patience.
type remembered[T any] struct {
	ask  func(context.Context) (T, error)
	keep time.Duration
	now  func() time.Time
	turn chan struct{} // holds one; guards what follows
	last T
	at   time.Time
}

func remember[T any](keep time.Duration, ask func(context.Context) (T, error)) *remembered[T] {
	r := &remembered[T]{ask: ask, keep: keep, now: time.Now, turn: make(chan struct{}, 1)}
	r.turn <- struct{}{}
	return r
}

// get returns the answer; it is shared, and not to be changed.
func (r *remembered[T]) get(ctx context.Context) (T, error) {
	var none T
	select {
	case <-r.turn:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	defer func() { r.turn <- struct{}{} }()
	if !r.at.IsZero() && r.now().Sub(r.at) < r.keep {
		return r.last, nil
	}
	answer, err := r.ask(ctx)
	if err != nil {
		return none, err
	}
	r.last, r.at = answer, r.now()
	return answer, nil
}
