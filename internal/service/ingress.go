package service

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/callback"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
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
	meter := i.tel.Meters.Meter("github.com/rollcall-dev/rollcall")
	m, err := metrics.NewQuota(meter)
	if err != nil {
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
	producer, err := i.openProducer()
	if err != nil {
		return err
	}
	budget, err := newBudget(i.cfg, i.redis, i.tel)
	if err != nil {
		return err
	}
	rate, _ := budget.Rate()
	notices, err := newFiler(i.db, meter)
	if err != nil {
		return err
	}
	i.loop = newLoop(i.cfg, loopParts{db: i.db, producer: producer, notices: notices, metrics: m, tel: i.tel, rate: rate, seams: i.seams})
	mux, err := i.routes(m)
	if err != nil {
		return err
	}
	i.web, err = listenWeb(ctx, i.cfg.Ingress.Addr, mux, i.tel)
	return err
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
func (i *ingress) routes(m *metrics.Quota) (*http.ServeMux, error) {
	mux := http.NewServeMux()
	mux.Handle("/callback/{tenant}", callback.New(i.loop.counter, directory{i.db}, callbackOptions(i.cfg, m, i.tel)))
	return mux, nil
}
