package draw

import (
	"context"
	"errors"
	"sync"
	"time"
)

// flights does one thing once for all who want it at the same time.
type flights[K comparable, V any] struct {
	mu     sync.Mutex
	flying map[K]*flight[V]
}

type flight[V any] struct {
	landed chan struct{} // closed when value and err are there
	value  V
	err    error
}

// errCrashed is what the others get when the one who worked for them panicked.
var errCrashed = errors.New("the work for several requests panicked")

// do returns what work returns. The first to ask works, within limit and
// whether or not he himself still waits; the others wait for him as long as
// their ctx allows.
func (f *flights[K, V]) do(ctx context.Context, key K, limit time.Duration, work func(context.Context) (V, error)) (V, error) {
	f.mu.Lock()
	if other, ok := f.flying[key]; ok {
		f.mu.Unlock()
		select {
		case <-other.landed:
			return other.value, other.err
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
	own := &flight[V]{landed: make(chan struct{}), err: errCrashed}
	if f.flying == nil {
		f.flying = map[K]*flight[V]{}
	}
	f.flying[key] = own
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.flying, key)
		f.mu.Unlock()
		close(own.landed)
	}()
	working, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	own.value, own.err = work(working)
	return own.value, own.err
}
