package service

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// loopRole is a role that turns what happened into reasons to recompute: what
// the ingress begins, the keeper completes, with the same loop on the same
// connections.
type loopRole struct {
	cfg   config.Config
	tel   *telemetry.Telemetry
	seams []Seams // none but in a test

	meter    metric.Meter
	metrics  *metrics.Quota
	db       *mongostore.Database
	redis    redis.UniversalClient
	producer refresh.Publisher
	reached  func(context.Context) error // nil once the broker has been reached
	loop     *loop
	vendor   *wecom.Vendor
	budget   *redisbudget.Budget
	ways     *ContactWays
	// tenantRate and totalRate are the vendor budget's: how many codes a second
	// are released, for one tenant and for all.
	tenantRate, totalRate float64
	closers               closers
}

// open connects to everything; what it opened, closers ends. Fan-outs of other
// processes are looked for every poll; with 0 never.
func (r *loopRole) open(ctx context.Context, role string, poll time.Duration) error {
	r.meter = r.tel.Meters.Meter("github.com/rollcall-dev/rollcall")
	for _, open := range []func() error{
		func() error { return r.openStores(role) },
		func() error { return r.awaitProducer(ctx) },
		func() error { return r.openLoop(ctx, poll) },
		r.openWays,
	} {
		if err := open(); err != nil {
			return err
		}
	}
	return nil
}

func (r *loopRole) openStores(role string) error {
	var err error
	if r.db, err = openMongo(r.cfg, role); err != nil {
		return err
	}
	r.closers.add(r.db.Close)
	if r.redis, err = openRedis(r.cfg.Redis, r.tel); err != nil {
		return err
	}
	r.closers.add(func(context.Context) error { return r.redis.Close() })
	return nil
}

func (r *loopRole) openLoop(ctx context.Context, poll time.Duration) error {
	var err error
	if r.metrics, err = metrics.NewQuota(r.meter); err != nil {
		return err
	}
	if r.budget, err = newBudget(r.cfg, r.redis, r.tel); err != nil {
		return err
	}
	r.tenantRate, r.totalRate = r.budget.Rate()
	recorder, stopTrail, err := startTrail(ctx, r.db, r.meter, r.tel)
	if err != nil {
		return err
	}
	r.closers.add(stopTrail)
	notices, err := newFiler(r.db, r.meter)
	if err != nil {
		return err
	}
	ledgers, err := redisrotation.New(r.redis, redisrotation.Options{Prefix: r.cfg.Redis.KeyPrefix})
	if err != nil {
		return err
	}
	r.loop = newLoop(r.cfg, loopParts{
		db: r.db, producer: r.producer, notices: notices, metrics: r.metrics, trail: recorder, tel: r.tel, ledgers: ledgers,
		rate: r.tenantRate, poll: poll, seams: r.seams,
	})
	return nil
}

func (r *loopRole) openWays() error {
	var closeVendor func()
	var err error
	if r.vendor, closeVendor, err = newVendor(r.cfg, r.db, r.redis, r.tel); err != nil {
		return err
	}
	r.closers.add(func(context.Context) error { closeVendor(); return nil })
	r.ways, err = NewContactWays(r.cfg, ContactWaysParts{
		DB: r.db, Vendor: r.vendor, Announcer: r.loop.publisher, Meter: r.meter, Log: r.tel.Log,
	})
	return err
}
