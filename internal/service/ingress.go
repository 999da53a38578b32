package service

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/callback"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// ingress is one process that takes callbacks, facts and draws over HTTP.
type ingress struct {
	cfg     config.Config
	tel     *telemetry.Telemetry
	db      *mongostore.Database
	redis   redis.UniversalClient
	meter   metric.Meter
	metrics *metrics.Quota
	rate    float64 // codes a second that a tenant's fan-outs release
	loop    *loop
	web     *web
	seams   []Seams // none but in a test
	closers closers
}

// RunIngress serves callbacks, the API, draws and landing pages until ctx ends.
// Then it takes no more requests, answers those on their way, stops its
// fan-outs, which the keeper goes on with, and closes.
func RunIngress(ctx context.Context, cfg config.Config, version string, seams ...Seams) error {
	return runRole(ctx, cfg, "ingress", version, func(ctx context.Context, host *host) error {
		i := &ingress{cfg: cfg, tel: host.tel, seams: seams}
		return errors.Join(i.run(ctx, host), i.closers.close(ctx, cfg.Refresher.DrainTimeout))
	})
}

func (i *ingress) run(ctx context.Context, host *host) error {
	if err := i.open(ctx); err != nil {
		return err
	}
	host.started(
		telemetry.Dependency{Name: "mongodb", Ask: i.db.Ping, Every: 5 * time.Second, Timeout: 3 * time.Second},
	)
	i.tel.Log.InfoContext(ctx, "ingress ready", "instance", i.cfg.Refresher.Instance, "address", i.web.listener.Addr().String())
	// The fan-outs stop after the requests: one of these may still begin one.
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { i.loop.runner.Run(working) })
	err := i.web.serve(ctx)
	stop()
	running.Wait()
	return err
}

// open connects to everything; what it opened, closers ends.
func (i *ingress) open(ctx context.Context) error {
	var err error
	i.meter = i.tel.Meters.Meter("github.com/rollcall-dev/rollcall")
	if i.metrics, err = metrics.NewQuota(i.meter); err != nil {
		return err
	}
	if i.db, err = openMongo(i.cfg, "ingress"); err != nil {
		return err
	}
	i.closers.add(i.db.Close)
	if i.redis, err = openRedis(i.cfg.Redis, i.tel); err != nil {
		return err
	}
	i.closers.add(func(context.Context) error { return i.redis.Close() })
	if err := i.openLoop(); err != nil {
		return err
	}
	mux, err := i.routes()
	if err != nil {
		return err
	}
	i.web, err = listenWeb(ctx, i.cfg.Ingress.Addr, mux, i.tel)
	return err
}

// openLoop puts together what turns callbacks and facts into events.
func (i *ingress) openLoop() error {
	producer, err := i.openProducer()
	if err != nil {
		return err
	}
	budget, err := newBudget(i.cfg, i.redis, i.tel)
	if err != nil {
		return err
	}
	i.rate, _ = budget.Rate()
	notices, err := newFiler(i.db, i.meter)
	if err != nil {
		return err
	}
	ledgers, err := redisrotation.New(i.redis, redisrotation.Options{Prefix: i.cfg.Redis.KeyPrefix})
	if err != nil {
		return err
	}
	i.loop = newLoop(i.cfg, loopParts{
		db: i.db, producer: producer, notices: notices, metrics: i.metrics, tel: i.tel, ledgers: ledgers, rate: i.rate, seams: i.seams,
	})
	return nil
}

func (i *ingress) openProducer() (*refresh.Producer, error) {
	bus, err := pulsarbus.NewClient(busOptions(i.cfg, nil, i.tel))
	if err != nil {
		return nil, err
	}
	i.closers.add(func(context.Context) error { bus.Close(); return nil })
	producer, err := refresh.New(bus, refresh.Options{Topic: i.cfg.Pulsar.Topic, SendTimeout: i.cfg.Pulsar.OperationTimeout})
	if err != nil {
		return nil, err
	}
	i.closers.add(func(context.Context) error { producer.Close(); return nil })
	return producer, nil
}

// routes are all that the ingress serves.
func (i *ingress) routes() (*http.ServeMux, error) {
	ways, err := i.openWays()
	if err != nil {
		return nil, err
	}
	api, err := NewAPI(i.cfg, APIParts{
		DB: i.db, Publisher: i.loop.publisher, FanOuts: i.loop.requests, Ways: ways, Meter: i.meter, Log: i.tel.Log, Rate: i.rate,
	})
	if err != nil {
		return nil, err
	}
	drawing, err := NewDrawing(i.cfg, DrawingParts{
		Redis: i.redis, Store: i.db.Store(), Refresher: i.loop.publisher, Ways: ways, Meter: i.meter, Log: i.tel.Log,
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/callback/{tenant}", callback.New(i.loop.counter, directory{i.db}, callbackOptions(i.cfg, i.metrics, i.tel)))
	mux.Handle("/v1/", api.Handler)
	mux.Handle("/v1/draw/{code}", api.Draws.Authenticate(drawing.API))
	mux.Handle("/c/{code}", drawing.Page)
	return mux, nil
}

// openWays puts together what makes contact ways.
func (i *ingress) openWays() (*ContactWays, error) {
	vendor, closeVendor, err := newVendor(i.cfg, i.db, i.redis, i.tel)
	if err != nil {
		return nil, err
	}
	i.closers.add(func(context.Context) error { closeVendor(); return nil })
	return NewContactWays(i.cfg, ContactWaysParts{
		DB: i.db, Vendor: vendor, Announcer: i.loop.publisher, Meter: i.meter, Log: i.tel.Log,
	})
}
