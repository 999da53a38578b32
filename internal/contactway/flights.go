package contactway

import (
	"context"
	"errors"
	"sync"
	"time"
)

// flights makes one contact way once for all who want it at the same time in
// this process. The zero value is ready.
type flights struct {
	mu     sync.Mutex
	flying map[Key]*flight
}

type flight struct {
	landed chan struct{} // closed when held and err are there
	held   Held
	err    error
}

// errCrashed is what the others get when the one who worked for them panicked.
var errCrashed = errors.New("the making of a contact way panicked")

// do returns what work returns. The first to ask works, for at most limit and
// whether or not he himself still waits; the others wait as long as their ctx
// allows.
func (f *flights) do(ctx context.Context, key Key, limit time.Duration, work func(context.Context) (Held, error)) (Held, error) {
	own, first := f.join(key)
	if !first {
		select {
		case <-own.landed:
			return own.held, own.err
		case <-ctx.Done():
			return Held{}, ctx.Err()
		}
	}
	defer f.land(key, own)
	working, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	own.held, own.err = work(working)
	return own.held, own.err
}

func (f *flights) join(key Key) (own *flight, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other, ok := f.flying[key]; ok {
		return other, false
	}
	if f.flying == nil {
		f.flying = map[Key]*flight{}
	}
	own = &flight{landed: make(chan struct{}), err: errCrashed}
	f.flying[key] = own
	return own, true
}

func (f *flights) land(key Key, own *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.flying, key)
	close(own.landed)
}
