package wecom

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/singleflight"
)

var errClosed = errors.New("the token source is closed")

// flights runs one fetch a tenant at a time for all who ask. A fetch is not
// cut short when the first to ask gives up, since the others wait for it too;
// close ends it. The zero value is ready.
type flights struct {
	group singleflight.Group

	mu      sync.Mutex
	closed  bool
	cancels map[*context.CancelFunc]struct{}
	running sync.WaitGroup
}

// do returns the outcome of the tenant's fetch, starting one if none runs, or
// the end of ctx.
func (f *flights) do(ctx context.Context, tenant string, fetch func(context.Context) (Secret, error)) (Secret, error) {
	outcome := f.group.DoChan(tenant, func() (any, error) {
		ctx, leave, err := f.enter(ctx)
		if err != nil {
			return Secret{}, err
		}
		defer leave()
		return fetch(ctx)
	})
	select {
	case result := <-outcome:
		token, _ := result.Val.(Secret)
		return token, result.Err
	case <-ctx.Done():
		return Secret{}, ctx.Err()
	}
}

// enter registers a fetch with its own end. It keeps the values of ctx, the
// span of the first to ask among them.
func (f *flights) enter(ctx context.Context) (context.Context, func(), error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, nil, errClosed
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if f.cancels == nil {
		f.cancels = make(map[*context.CancelFunc]struct{})
	}
	f.cancels[&cancel] = struct{}{}
	f.running.Add(1)
	return ctx, func() {
		cancel()
		f.mu.Lock()
		delete(f.cancels, &cancel)
		f.mu.Unlock()
		f.running.Done()
	}, nil
}

func (f *flights) close() {
	f.mu.Lock()
	f.closed = true
	for cancel := range f.cancels {
		(*cancel)()
	}
	f.mu.Unlock()
	f.running.Wait()
}
