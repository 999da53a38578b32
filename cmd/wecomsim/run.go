package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/control"
)

// grace is how long answers under way may take once the process is to stop.
const grace = 5 * time.Second

// run serves until ctx ends.
func run(ctx context.Context, set settings, logger *slog.Logger) error {
	sim, err := set.newSim(logger)
	if err != nil {
		return err
	}
	defer sim.Close()
	if err := load(sim, set.load); err != nil {
		return err
	}
	var listen net.ListenConfig
	vendor, err := listen.Listen(ctx, "tcp", set.addr)
	if err != nil {
		return fmt.Errorf("--addr %s: %w", set.addr, err)
	}
	steering, err := listen.Listen(ctx, "tcp", set.controlAddr)
	if err != nil {
		return errors.Join(fmt.Errorf("--control-addr %s: %w", set.controlAddr, err), vendor.Close())
	}
	logger.Info("wecomsim serves", "wecom", "http://"+vendor.Addr().String(),
		"control", "http://"+steering.Addr().String()+"/control/v1/", "corps", len(sim.Corps()))
	return serve(ctx, sim, map[net.Listener]http.Handler{vendor: sim.Handler(), steering: control.Handler(sim)})
}

// serve runs one server per listener until ctx ends or one of them fails, and
// waits for both.
func serve(ctx context.Context, sim *wecomsim.Sim, handlers map[net.Listener]http.Handler) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var servers []*http.Server
	for listener, handler := range handlers {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
		servers = append(servers, server)
		wg.Go(func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				cancel(fmt.Errorf("serve %s: %w", listener.Addr(), err))
			}
		})
	}
	<-ctx.Done()
	sim.Close() // first, so that no call hangs on
	err := shutDown(context.WithoutCancel(ctx), servers)
	wg.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

func shutDown(ctx context.Context, servers []*http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	var errs []error
	for _, server := range servers {
		if err := server.Shutdown(ctx); err != nil {
			errs = append(errs, fmt.Errorf("shut down: %w", err), server.Close())
		}
	}
	return errors.Join(errs...)
}

func load(sim *wecomsim.Sim, path string) error {
	if path == "" {
		return nil
	}
	file, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("--load: %w", err)
	}
	defer func() { _ = file.Close() }() // read only
	if err := control.Load(sim, file); err != nil {
		return fmt.Errorf("--load %s: %w", path, err)
	}
	return nil
}
