package service

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/adapter/callback"
	"github.com/rollcall-dev/rollcall/internal/adapter/console"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/webserver"
)

// ingress is one process that takes callbacks, facts and draws over HTTP.
type ingress struct {
	loopRole
	version string
	web     *webserver.Server
	console *console.Console // nil: there is none
}

// RunIngress serves callbacks, the API, draws, landing pages and the console until ctx ends.
// Then it takes no more requests, answers those on their way, stops its
// fan-outs, which the keeper goes on with, and closes.
func RunIngress(ctx context.Context, cfg config.Config, version string, seams ...Seams) error {
	return runRole(ctx, cfg, "ingress", version, func(ctx context.Context, host *host) error {
		i := &ingress{loopRole: loopRole{cfg: cfg, tel: host.tel, seams: seams}, version: version}
		return errors.Join(i.run(ctx, host), i.closers.close(ctx, cfg.Refresher.DrainTimeout))
	})
}

func (i *ingress) run(ctx context.Context, host *host) error {
	if err := i.open(ctx); err != nil {
		return err
	}
	// Without MongoDB draws go on, and without the broker callbacks do; a callback
	// that cannot be made durable is sent again by WeCom.
	host.depend(toldOnly(mongoOf(i.db), redisOf(i.redis), i.broker())...)
	stopTelling, err := startTelling(ctx, i.cfg, host, telling{redis: i.redis})
	if err != nil {
		return err
	}
	i.closers.add(stopTelling)
	host.started()
	i.tel.Log.InfoContext(ctx, "ingress ready", "instance", i.cfg.Refresher.Instance, "address", i.web.Addr())
	// The fan-outs stop after the requests: one of these may still begin one.
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { i.loop.runner.Run(working) })
	err = i.web.Serve(ctx)
	stop()
	running.Wait()
	return err
}

// open connects to everything and listens.
func (i *ingress) open(ctx context.Context) error {
	if err := i.loopRole.open(ctx, "ingress", 0); err != nil {
		return err
	}
	mux, err := i.routes()
	if err != nil {
		return err
	}
	if i.web, err = listenWeb(ctx, i.cfg.Ingress.Addr, mux, i.tel); err != nil {
		return err
	}
	if i.console != nil {
		i.web.HTTP.RegisterOnShutdown(i.console.Stop) // its live pages would hold the stop up
	}
	return nil
}

// routes are all that the ingress serves.
func (i *ingress) routes() (*http.ServeMux, error) {
	api, err := NewAPI(i.cfg, APIParts{
		DB: i.db, Publisher: i.loop.publisher, FanOuts: i.loop.requests, Ways: i.ways, Meter: i.meter, Log: i.tel.Log, Rate: i.tenantRate,
	})
	if err != nil {
		return nil, err
	}
	drawing, err := NewDrawing(i.cfg, DrawingParts{
		Redis: i.redis, Store: i.db.Store(), Refresher: i.loop.publisher, Ways: i.ways, Meter: i.meter, Log: i.tel.Log,
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/callback/{tenant}", callback.New(i.loop.counter, directory{i.db}, callbackOptions(i.cfg, i.metrics, i.tel)))
	mux.Handle("/v1/", api.Handler)
	mux.Handle("/v1/draw/{code}", api.Draws.Authenticate(drawing.API))
	mux.Handle("/c/{code}", drawing.Page)
	return mux, i.openConsole(mux)
}
