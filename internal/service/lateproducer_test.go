package service

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

var errAway = errors.New("connection refused")

// broker takes events once it is there.
type broker struct {
	refresh.Publisher
	closed int
}

func (b *broker) Publish(context.Context, refresh.Event) error { return nil }
func (b *broker) PublishAsync(_ context.Context, _ refresh.Event, done func(error)) {
	done(nil)
}
func (b *broker) Flush(context.Context) error { return nil }
func (b *broker) Close()                      { b.closed++ }

// A process that starts while the broker is away says so of each event, and
// publishes as soon as the broker is there.
func TestEventsWaitForABrokerThatIsAwayAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here := &broker{}
		back := time.Now().Add(20 * time.Second)
		p := newLateProducer(t.Context(), slog.New(slog.DiscardHandler), func() (closingPublisher, error) {
			if time.Now().Before(back) {
				return nil, errAway
			}
			return here, nil
		})
		event := refresh.Event{Tenant: "acme", Code: "c", Reason: "test", OccurredAt: time.Now()}
		publish := func() (now, later error) {
			p.PublishAsync(t.Context(), event, func(err error) { later = err })
			return p.Publish(t.Context(), event), later
		}
		if now, later := publish(); !errors.Is(now, errNoBroker) || !errors.Is(later, errNoBroker) {
			t.Errorf("while it is away: %v, %v", now, later)
		}
		var invalid *refresh.InvalidError
		if err := p.Publish(t.Context(), refresh.Event{Tenant: "acme"}); !errors.As(err, &invalid) {
			t.Errorf("an event that can never be published: %v", err)
		}
		p.PublishAsync(t.Context(), event, nil)
		if err := p.Flush(t.Context()); err != nil {
			t.Errorf("Flush: %v", err)
		}
		<-time.After(20*time.Second + lastRetry)
		synctest.Wait()
		if now, later := publish(); now != nil || later != nil {
			t.Errorf("when it is back: %v, %v", now, later)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
		if here.closed != 1 {
			t.Errorf("closed %d times", here.closed)
		}
	})
}

func TestAProducerThatNeverReachedTheBrokerCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newLateProducer(t.Context(), slog.New(slog.DiscardHandler), func() (closingPublisher, error) { return nil, errAway })
		<-time.After(time.Minute)
		if err := p.reached(t.Context()); !errors.Is(err, errNoBroker) {
			t.Errorf("reached: %v", err)
		}
		if err := p.Close(t.Context()); err != nil { // and leaves no goroutine: the bubble would not end
			t.Errorf("Close: %v", err)
		}
	})
}

// An attempt that hangs does not take the time of what is closed after it.
func TestClosingDoesNotWaitForAnAttemptThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		p := newLateProducer(t.Context(), slog.New(slog.DiscardHandler), func() (closingPublisher, error) {
			if tries++; tries > 1 {
				<-time.After(time.Minute)
			}
			return nil, errAway
		})
		synctest.Wait()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		begun := time.Now()
		if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("Close: %v after %v", err, time.Since(begun))
		}
		<-time.After(time.Minute)
	})
}

// The waits grow to a bound that lets a process be back soon after the broker.
func TestAttemptsForTheBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		last := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Second)
		defer stop()
		err := untilBroker(ctx, slog.New(slog.DiscardHandler), "a test", func() error {
			waits = append(waits, time.Since(last))
			last = time.Now()
			return errAway
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		want := []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second, 15 * time.Second}
		if len(waits) != len(want) {
			t.Fatalf("waits %v", waits)
		}
		for i := range want {
			if waits[i] != want[i] {
				t.Errorf("waits %v, want %v", waits, want)
				break
			}
		}
	})
}

func TestAStartThatIsGivenUpWhenAskedIsNoFailure(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	if err := unlessAsked(ctx, errAway); !errors.Is(err, errAway) {
		t.Errorf("%v", err)
	}
	stop()
	if err := unlessAsked(ctx, context.Canceled); err != nil {
		t.Errorf("%v", err)
	}
	if err := unlessAsked(ctx, errAway); !errors.Is(err, errAway) {
		t.Errorf("%v", err)
	}
}
