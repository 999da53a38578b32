package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// The waits between attempts to reach a broker that was away at the start.
const (
	firstRetry = time.Second
	lastRetry  = 15 * time.Second
)

// errNoBroker is an event while the broker has not been reached since the start.
var errNoBroker = errors.New("the broker has not been reached yet")

// untilBroker attempts something with the broker until it succeeds or ctx ends,
// whose error it returns then. A role that ended instead would be restarted at
// ever longer intervals, and come back minutes after the broker did.
func untilBroker(ctx context.Context, log *slog.Logger, what string, attempt func() error) error {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		err := attempt()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		log.WarnContext(ctx, "the broker cannot be used yet; it is tried again", "for", what, "in", wait, "error", err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// closingPublisher is what lateProducer makes.
type closingPublisher interface {
	refresh.Publisher
	Close()
}

// lateProducer publishes as soon as there is a broker, and fails with errNoBroker
// before. Once it has one it stays with it: the client reconnects by itself.
type lateProducer struct {
	made   atomic.Pointer[closingPublisher]
	stop   context.CancelFunc
	trying sync.WaitGroup
}

var _ refresh.Publisher = (*lateProducer)(nil)

// newLateProducer tries once and returns; what fails then is tried again until
// Close. Of ctx it keeps the values only.
func newLateProducer(ctx context.Context, log *slog.Logger, dial func() (closingPublisher, error)) *lateProducer {
	p := &lateProducer{}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	p.stop = stop
	attempt := func() error {
		made, err := dial()
		if err == nil {
			p.made.Store(&made)
		}
		return err
	}
	if attempt() == nil {
		return p
	}
	p.trying.Go(func() {
		if untilBroker(ctx, log, "publishing", attempt) == nil {
			log.InfoContext(ctx, "the broker is there: events are published from now on")
		}
	})
	return p
}

func (p *lateProducer) Publish(ctx context.Context, e refresh.Event) error {
	if made := p.made.Load(); made != nil {
		return (*made).Publish(ctx, e)
	}
	return unpublished(e)
}

func (p *lateProducer) PublishAsync(ctx context.Context, e refresh.Event, done func(error)) {
	made := p.made.Load()
	switch {
	case made != nil:
		(*made).PublishAsync(ctx, e, done)
	case done != nil:
		done(unpublished(e))
	}
}

func (p *lateProducer) Flush(ctx context.Context) error {
	if made := p.made.Load(); made != nil {
		return (*made).Flush(ctx)
	}
	return nil // nothing was handed over
}

// Close ends the attempts and what they made. An attempt that is under way cannot
// be cut short: when ctx ends before it, it is left to the end of the process.
func (p *lateProducer) Close(ctx context.Context) error {
	p.stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.trying.Wait()
		if made := p.made.Load(); made != nil {
			(*made).Close()
		}
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("end the attempts to reach the broker: %w", ctx.Err())
	}
}

// reached is nil once the broker has been reached. The client reconnects by
// itself from then on, and does not tell.
func (p *lateProducer) reached(context.Context) error {
	if p.made.Load() == nil {
		return errNoBroker
	}
	return nil
}

// unpublished checks an event as a producer does, so that one that can never be
// published is told apart from one that has to wait.
func unpublished(e refresh.Event) error {
	if _, err := refresh.Encode(e); err != nil {
		return fmt.Errorf("publish for code %s: %w", e.Code, err)
	}
	return fmt.Errorf("publish for code %s: %w", e.Code, errNoBroker)
}

// openProducer makes the producer, which the broker has to be there for.
func (r *loopRole) openProducer() error {
	made, err := dialProducer(busOptions(r.cfg, nil, r.tel))
	if err != nil {
		return err
	}
	r.closers.add(func(context.Context) error { made.Close(); return nil })
	r.producer = made
	return nil
}

// awaitProducer makes a producer that the broker need not be there for yet.
func (r *loopRole) awaitProducer(ctx context.Context) error {
	options := busOptions(r.cfg, nil, r.tel) // one for all attempts: it keeps the token that was issued
	made := newLateProducer(ctx, r.tel.Log, func() (closingPublisher, error) { return dialProducer(options) })
	r.closers.add(made.Close)
	r.producer, r.reached = made, made.reached
	return nil
}

func dialProducer(o pulsarbus.Options) (closingPublisher, error) {
	bus, err := pulsarbus.NewClient(o)
	if err != nil {
		return nil, err
	}
	made, err := refresh.New(bus, refresh.Options{Topic: o.Topic, SendTimeout: o.OperationTimeout})
	if err != nil {
		bus.Close()
		return nil, err
	}
	return dialed{made, bus}, nil
}

// dialed is a producer with the client it is on.
type dialed struct {
	*refresh.Producer
	bus interface{ Close() }
}

// Close ends both.
func (d dialed) Close() {
	d.Producer.Close()
	d.bus.Close()
}
