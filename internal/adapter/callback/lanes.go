package callback

import (
	"context"
	"errors"
	"sync"
)

// errFull refuses a callback of a tenant of whom too many wait already.
var errFull = errors.New("too many callbacks of the tenant wait")

// lanes gives every tenant its own places.
type lanes struct {
	places, waiting int

	mu   sync.Mutex
	lane map[string]*lane
}

// lane is a tenant's: a token a place, and how many callbacks are in it or wait
// for it.
type lane struct {
	tokens chan struct{}
	users  int
}

func newLanes(places, waiting int) *lanes {
	return &lanes{places: places, waiting: waiting, lane: map[string]*lane{}}
}

// enter waits for a place and returns how to leave it. It fails with errFull,
// or with ctx.
func (l *lanes) enter(ctx context.Context, tenant string) (leave func(), err error) {
	own, err := l.join(tenant)
	if err != nil {
		return nil, err
	}
	select {
	case own.tokens <- struct{}{}:
		return func() { <-own.tokens; l.part(tenant) }, nil
	case <-ctx.Done():
		l.part(tenant)
		return nil, ctx.Err()
	}
}

func (l *lanes) join(tenant string) (*lane, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.lane[tenant]
	if own == nil {
		own = &lane{tokens: make(chan struct{}, l.places)}
		l.lane[tenant] = own
	}
	if own.users >= l.places+l.waiting {
		return nil, errFull
	}
	own.users++
	return own, nil
}

func (l *lanes) part(tenant string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.lane[tenant]
	if own.users--; own.users == 0 {
		delete(l.lane, tenant)
	}
}
