package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/grouprobot"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/robotchannel"
	"github.com/rollcall-dev/rollcall/internal/adapter/webhook"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// The rhythm and the bounds of notifications that nobody has to set.
const (
	notifyEvery = time.Second
	tendEvery   = 15 * time.Second
	pruneEvery  = time.Hour
	// notifyBackoff is the wait after the first try that failed.
	notifyBackoff = 15 * time.Second
	notifyGrace   = 2 * time.Second
	notifyMargin  = 30 * time.Second
	// notifyLanes are worked on side by side, each as wide as notifyWidth: at
	// most their product of requests at once.
	notifyLanes, notifyWidth = 128, 4
	robotConns               = 16
)

// Raise lets whoever needs an interface raise an alert.
func (r raise) Raise(ctx context.Context, al alert.Alert) { r(ctx, al) }

// newFiler returns who files notices.
func newFiler(db *mongostore.Database, meter metric.Meter) (notify.Filer, error) {
	seen, err := metrics.NewNotifications(meter)
	if err != nil {
		return nil, err
	}
	return notify.NewFiling(db.Channels(), db.Deliveries(), seen, time.Now), nil
}

// notifying is the keeper's work on notifications.
type notifying struct {
	dispatcher *notify.Dispatcher
	resumer    *notify.Resumer
	archive    notify.Archive
	keep       time.Duration
	release    func()

	backlog atomic.Pointer[notify.Backlog] // as seen last; nil while another keeper works
}

// newNotifying prepares the work; alerts go to tell. What it opened, close ends.
func newNotifying(cfg config.Config, db *mongostore.Database, seen *metrics.Notifications, tell raise, tel *telemetry.Telemetry) (*notifying, error) {
	store, channels := db.Deliveries(), db.Channels()
	senders, release := newSenders(cfg, tel)
	n := &notifying{
		dispatcher: notify.NewDispatcher(notify.Ports{
			Queue: store, Pools: store, Directory: channels, Senders: senders, Alerts: tell, Observer: seen,
		}, notifyOptions(cfg, tel)),
		resumer: notify.NewResumer(store, store, channels, seen, cfg.Notify.DailyPool, time.Now),
		archive: store,
		keep:    cfg.Notify.Keep,
	}
	stop, err := seen.ObserveBacklog(func() notify.Backlog { return *cmp.Or(n.backlog.Load(), &notify.Backlog{}) })
	if err != nil {
		release()
		return nil, err
	}
	n.release = func() {
		_ = stop() // it never fails after it was registered
		release()
	}
	return n, nil
}

func notifyOptions(cfg config.Config, tel *telemetry.Telemetry) notify.Options {
	return notify.Options{
		// An instance's name may be that of the one before it.
		Owner:     cfg.Refresher.Instance + "/" + rand.Text()[:8],
		DailyPool: cfg.Notify.DailyPool, SendTimeout: cfg.Notify.Timeout, Grace: notifyGrace, Margin: notifyMargin,
		LaneWidth: notifyWidth, Lanes: notifyLanes,
		Retries: notify.Retries{
			MaxTries: cfg.Notify.MaxTries,
			Backoff:  push.Backoff{Base: min(notifyBackoff, cfg.Notify.BackoffCap), Cap: cfg.Notify.BackoffCap},
			MaxAfter: cfg.Notify.BackoffCap,
		},
		Now: time.Now, Logger: tel.Log,
	}
}

// newSenders returns the channels, and what closes their connections.
func newSenders(cfg config.Config, tel *telemetry.Telemetry) (map[notify.Via]notify.Sender, func()) {
	network := webhook.PublicOnly
	if cfg.Notify.AllowPrivate {
		network = webhook.PrivateToo
	}
	hooks := webhook.New(webhook.Options{Network: network, TracerProvider: tel.Tracers})
	transport := wecom.NewTransport(wecom.TransportOptions{Proxy: http.ProxyFromEnvironment, MaxConns: robotConns})
	client := grouprobot.New(grouprobot.Options{
		HTTP: &http.Client{Transport: transport}, Timeout: cfg.Notify.Timeout, TracerProvider: tel.Tracers,
	})
	senders := map[notify.Via]notify.Sender{
		notify.ViaWebhook: hooks,
		notify.ViaRobot:   robotchannel.New(client, cfg.WeCom.BaseURL, time.Now),
	}
	return senders, func() {
		hooks.Close()
		transport.CloseIdleConnections()
	}
}

// close ends what newNotifying opened, after the work has ended.
func (n *notifying) close(context.Context) error {
	n.release()
	return nil
}

// sweeper runs a sweep in its rhythm until ctx ends.
type sweeper func(ctx context.Context, rhythm time.Duration, name metrics.Sweep, sweep func() error)

// run works until ctx ends and every attempt under way has ended; sweeps waits
// for it.
func (n *notifying) run(ctx context.Context, every sweeper, sweeps *sync.WaitGroup) {
	sweeps.Go(func() {
		defer n.dispatcher.Wait()
		every(ctx, notifyEvery, metrics.SweepNotify, func() error { return n.dispatcher.Sweep(ctx) })
	})
	sweeps.Go(func() {
		defer n.backlog.Store(nil)
		every(ctx, tendEvery, metrics.SweepHeld, func() error { return n.tend(ctx) })
	})
	sweeps.Go(func() {
		every(ctx, pruneEvery, metrics.SweepPrune, func() error {
			_, err := n.archive.Prune(ctx, time.Now().Add(-n.keep))
			return err
		})
	})
}

// tend ends the holds that are over and looks at what is left.
func (n *notifying) tend(ctx context.Context) error {
	err := n.resumer.Sweep(ctx)
	backlog, failed := n.archive.Backlog(ctx)
	if failed == nil {
		n.backlog.Store(&backlog)
	}
	return errors.Join(err, failed)
}
