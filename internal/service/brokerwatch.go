package service

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// subscriptionFigures asks the broker about a subscription.
type subscriptionFigures interface {
	Stats(ctx context.Context, topic, subscription string) (pulsarbus.Stats, error)
	DeadLetters(ctx context.Context, topic, subscription string) (int64, error)
}

// brokerWatch keeps what the broker said last, for the metrics.
type brokerWatch struct {
	cfg     config.Pulsar
	admin   subscriptionFigures
	metrics *metrics.Subscription
	now     func() time.Time
	last    atomic.Pointer[metrics.SubscriptionState]
}

// look asks once. What could not be asked is not known: nothing is kept then.
func (w *brokerWatch) look(ctx context.Context) error {
	stats, err := w.admin.Stats(ctx, w.cfg.Topic, w.cfg.Subscription)
	letters, lettersErr := w.admin.DeadLetters(ctx, w.cfg.DeadLetterTopic, "")
	if err := errors.Join(err, lettersErr); err != nil {
		w.forget()
		w.metrics.Looked(ctx, metrics.LookFailed)
		return err
	}
	state := metrics.SubscriptionState{
		Backlog: stats.Backlog, Unacked: stats.Unacked, InReplay: stats.InReplay, AckHoles: stats.AckHoles,
		Consumers: stats.Consumers, BlockedConsumers: stats.BlockedConsumers, DrainingHashes: stats.DrainingHashes,
		DeadLetters: letters,
	}
	if !stats.Oldest.IsZero() {
		state.Oldest = max(w.now().Sub(stats.Oldest), 0)
	}
	w.last.Store(&state)
	w.metrics.Looked(ctx, metrics.LookOK)
	return nil
}

// forget ends what a keeper that loses the lease knew.
func (w *brokerWatch) forget() { w.last.Store(nil) }

// openWatch prepares the looking at the broker; without an admin URL nobody
// looks.
func (k *keeper) openWatch(ctx context.Context) error {
	if k.cfg.Pulsar.AdminURL == "" {
		k.tel.Log.InfoContext(ctx, "ROLLCALL_PULSAR_ADMIN_URL is not set; there are no metrics of the subscription")
		return nil
	}
	admin, err := openAdmin(k.cfg.Pulsar)
	if err != nil {
		return err
	}
	k.closers.add(func(context.Context) error { admin.Close(); return nil })
	seen, err := metrics.NewSubscription(k.meter)
	if err != nil {
		return err
	}
	k.watch = &brokerWatch{cfg: k.cfg.Pulsar, admin: admin, metrics: seen, now: time.Now}
	stop, err := seen.Observe(k.watch.last.Load)
	if err != nil {
		return err
	}
	k.closers.add(func(context.Context) error { return stop() })
	return nil
}
