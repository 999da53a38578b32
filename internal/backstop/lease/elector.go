package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Why a holder had to stop.
var (
	ErrTaken  = errors.New("somebody else has taken the lease")
	ErrLapsed = errors.New("the lease could not be renewed in time")
)

// Work is what a holder does. It has to return soon after ctx ends, which it
// does, at the latest, before anybody else may take the lease. Work that
// returns earlier gives the lease up.
type Work func(ctx context.Context, token int64)

// Observer is told what happens. Its methods must be quick.
type Observer interface {
	// Watching: the lease is somebody else's. Told at every look.
	Watching(ctx context.Context, seen State)
	// Took: the lease is ours, and work begins.
	Took(ctx context.Context, token int64, why Opening)
	// Ended: work has returned, because of ErrTaken, ErrLapsed, or, with nil,
	// because it was asked to stop.
	Ended(ctx context.Context, token int64, cause error)
	// Failed: the store could not be asked. It is asked again.
	Failed(ctx context.Context, err error)
}

// Elector runs the work of a role while it holds the role's lease.
type Elector struct {
	store    Store
	observer Observer
	role     string
	holder   string
	terms    Terms
}

// Options of an Elector. All are required.
type Options struct {
	Role   string // the lease's name
	Holder string // this process, for a person
	Terms
}

// NewElector returns an Elector.
func NewElector(store Store, observer Observer, opts Options) *Elector {
	return &Elector{store: store, observer: observer, role: opts.Role, holder: opts.Holder, terms: opts.Terms}
}

// Run takes the lease whenever it may be taken and works until it is lost, over
// and over, until ctx ends. It returns when the work has ended and the lease is
// released. Whoever has lost the lease or given it up stands back for two
// looks, so that a healthier process may go first.
func (e *Elector) Run(ctx context.Context, work Work) {
	for {
		if tenure := e.campaign(ctx); tenure != nil {
			e.hold(ctx, tenure, work)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(2 * e.terms.PollEvery):
		}
	}
}

// campaign looks at the lease until it is ours; nil when ctx ends before.
func (e *Elector) campaign(ctx context.Context) *Tenure {
	watch := NewWatch(e.terms.TTL)
	look := time.NewTicker(e.terms.PollEvery)
	defer look.Stop()
	for {
		tenure, err := e.attempt(ctx, watch)
		switch {
		case tenure != nil:
			return tenure
		case err != nil && ctx.Err() == nil:
			e.observer.Failed(ctx, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}

// attempt looks once, and takes the lease when it may be taken; nil when it may
// not.
func (e *Elector) attempt(ctx context.Context, watch *Watch) (*Tenure, error) {
	asked := time.Now()
	reading, stop := context.WithTimeout(ctx, e.terms.RenewEvery)
	defer stop()
	seen, err := e.store.Read(reading, e.role)
	if err != nil {
		return nil, fmt.Errorf("look at the lease of %s: %w", e.role, err)
	}
	why := watch.Observe(seen, asked, time.Now())
	if why == Held {
		e.observer.Watching(ctx, seen)
		return nil, nil // it is somebody else's
	}
	return e.take(ctx, seen, why)
}

// take is not cut off when ctx ends: a lease that was taken without anybody
// knowing would keep the others waiting for its TTL.
func (e *Elector) take(ctx context.Context, seen State, why Opening) (*Tenure, error) {
	asked := time.Now()
	taking, stop := context.WithTimeout(context.WithoutCancel(ctx), e.terms.RenewEvery)
	defer stop()
	next := State{Token: seen.Token + 1, Holder: e.holder, TTL: e.terms.TTL}
	ok, err := e.store.Take(taking, e.role, seen, next)
	if err != nil {
		return nil, fmt.Errorf("take the lease of %s: %w", e.role, err)
	}
	if !ok {
		return nil, nil // somebody else was faster
	}
	e.observer.Took(ctx, next.Token, why)
	return NewTenure(next.Token, e.terms, asked), nil
}

// hold works and renews until either ends, and gives the lease up.
func (e *Elector) hold(ctx context.Context, tenure *Tenure, work Work) {
	term, end := context.WithCancelCause(ctx)
	defer end(nil)
	var working sync.WaitGroup
	working.Go(func() {
		defer end(nil)
		work(term, tenure.Token)
	})
	// The clock ends the work by itself, even while a renewal hangs.
	clock := time.AfterFunc(time.Until(tenure.Ends()), func() { end(ErrLapsed) })
	e.renew(term, tenure, clock, end)
	clock.Stop()
	working.Wait()
	cause := context.Cause(term)
	if !errors.Is(cause, ErrTaken) && !errors.Is(cause, ErrLapsed) {
		cause = nil
	}
	e.observer.Ended(ctx, tenure.Token, cause)
	if !errors.Is(cause, ErrTaken) {
		e.release(ctx, tenure.Token)
	}
}

// renew extends the tenure until term ends.
func (e *Elector) renew(term context.Context, tenure *Tenure, clock *time.Timer, end context.CancelCauseFunc) {
	next := time.NewTimer(time.Until(tenure.RenewAt()))
	defer next.Stop()
	for {
		select {
		case <-term.Done():
			return
		case <-next.C:
		}
		asked := time.Now()
		asking, stop := context.WithTimeout(term, e.terms.RenewEvery)
		ok, err := e.store.Renew(asking, e.role, tenure.Token)
		stop()
		switch {
		case err != nil:
			if term.Err() == nil {
				e.observer.Failed(term, fmt.Errorf("renew the lease of %s: %w", e.role, err))
			}
			next.Reset(e.terms.PollEvery)
		case !ok:
			end(ErrTaken)
		default:
			tenure.Renewed(asked)
			clock.Reset(time.Until(tenure.Ends()))
			next.Reset(time.Until(tenure.RenewAt()))
		}
	}
}

func (e *Elector) release(ctx context.Context, token int64) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), e.terms.RenewEvery)
	defer stop()
	if err := e.store.Release(ctx, e.role, token); err != nil {
		e.observer.Failed(ctx, fmt.Errorf("release the lease of %s: %w", e.role, err))
	}
}
