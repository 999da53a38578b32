package service

import (
	"context"
	"errors"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// The keeper's rhythm.
const (
	releaseEvery = time.Second
	intentsEvery = 15 * time.Second
	sweepBatch   = 1000
	claimFor     = time.Minute
)

// RunKeeper releases dirty codes that are due and makes the codes of expired
// intents dirty, until ctx ends. Several keepers share the work.
func RunKeeper(ctx context.Context, cfg config.Config, version string) error {
	return runRole(ctx, cfg, "keeper", version, func(ctx context.Context, host *host) error {
		var open closers
		return errors.Join(runKeeper(ctx, cfg, host, &open), open.close(ctx, cfg.Refresher.DrainTimeout))
	})
}

func runKeeper(ctx context.Context, cfg config.Config, host *host, open *closers) error {
	db, err := openMongo(cfg.MongoDB, "keeper")
	if err != nil {
		return err
	}
	open.add(db.Close)
	sweeper, rate, err := newSweeper(cfg, db, host, open)
	if err != nil {
		return err
	}
	host.started(telemetry.Dependency{Name: "mongodb", Ask: db.Ping, Every: 5 * time.Second, Timeout: 3 * time.Second})
	host.tel.Log.InfoContext(ctx, "keeper ready", "instance", cfg.Refresher.Instance, "releases_per_second_and_tenant", rate)
	keep(ctx, sweeper, host.health.Heartbeat("sweep", 60*releaseEvery).Beat, host.tel)
	return nil
}

func newSweeper(cfg config.Config, db *mongostore.Database, host *host, open *closers) (*backstop.Sweeper, float64, error) {
	bus, err := pulsarbus.NewClient(busOptions(cfg, nil, host.tel))
	if err != nil {
		return nil, 0, err
	}
	open.add(func(context.Context) error { bus.Close(); return nil })
	producer, err := refresh.New(bus, refresh.Options{Topic: cfg.Pulsar.Topic, SendTimeout: cfg.Pulsar.OperationTimeout})
	if err != nil {
		return nil, 0, err
	}
	open.add(func(context.Context) error { producer.Close(); return nil })
	client, err := openRedis(cfg.Redis, host.tel)
	if err != nil {
		return nil, 0, err
	}
	open.add(func(context.Context) error { return client.Close() })
	budget, err := newBudget(cfg, client, host.tel)
	if err != nil {
		return nil, 0, err
	}
	rate, _ := budget.Rate()
	sweeper := backstop.New(dirtySet{db.Dirty()}, records{db.Store()}, publisher{producer}, backstop.Options{
		TenantRate: rate, Batch: sweepBatch, ClaimFor: claimFor,
		IntentMargin: 2 * (cfg.WeCom.CallTimeout + cfg.Refresher.IntentMargin), Now: time.Now, Logger: host.tel.Log,
	})
	return sweeper, rate, nil
}

// keep sweeps in its rhythm. A sweep that fails is told and tried again.
func keep(ctx context.Context, sweeper *backstop.Sweeper, beat func(), tel *telemetry.Telemetry) {
	release := time.NewTicker(releaseEvery)
	defer release.Stop()
	intents := time.NewTicker(intentsEvery)
	defer intents.Stop()
	for {
		beat()
		var err error
		select {
		case <-ctx.Done():
			return
		case <-release.C:
			_, err = sweeper.Release(ctx, releaseEvery)
		case <-intents.C:
			_, err = sweeper.MarkExpired(ctx)
		}
		if err != nil && ctx.Err() == nil {
			tel.Log.ErrorContext(ctx, "sweep failed", "error", err)
		}
	}
}

// dirtySet shows the store's dirty set as the backstop's.
type dirtySet struct{ *mongostore.Dirty }

func (d dirtySet) Due(ctx context.Context, now time.Time, limit int) ([]backstop.Entry, error) {
	due, err := d.Dirty.Due(ctx, now, limit)
	out := make([]backstop.Entry, 0, len(due))
	for _, e := range due {
		entry := backstop.Entry{Ref: e.Ref, Version: e.Version}
		if len(e.Reasons) > 0 {
			entry.Reason = e.Reasons[0]
		}
		out = append(out, entry)
	}
	return out, err
}

func (d dirtySet) Claim(ctx context.Context, e backstop.Entry, until time.Time) (backstop.Entry, bool, error) {
	version, ok, err := d.Dirty.Claim(ctx, e.Ref, e.Version, until)
	e.Version = version
	return e, ok, err
}

func (d dirtySet) Remove(ctx context.Context, e backstop.Entry) (bool, error) {
	return d.Dirty.Remove(ctx, e.Ref, e.Version)
}

// records shows the store's records as the backstop's.
type records struct{ store *mongostore.Store }

func (r records) ExpiredIntents(ctx context.Context, before time.Time, after push.Ref, limit int) ([]push.Ref, error) {
	found, err := r.store.ListExpired(ctx, before, after, limit)
	out := make([]push.Ref, 0, len(found))
	for _, f := range found {
		out = append(out, f.Ref)
	}
	return out, err
}

// publisher publishes through the SDK, as any producer does.
type publisher struct{ producer *refresh.Producer }

func (p publisher) Publish(ctx context.Context, ref push.Ref, why reason.Reason) error {
	return p.producer.Publish(ctx, refresh.Event{Tenant: ref.Tenant, Code: ref.Code, Reason: "dirty:" + why.String(), OccurredAt: time.Now()})
}
