package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// flushTimeout is how long the last metrics and spans may take.
const flushTimeout = 5 * time.Second

// host is what every role runs in.
type host struct {
	role, version string
	tel           *telemetry.Telemetry
	health        *telemetry.Health
	// pages are served beside health and metrics; a role may add to them at any
	// time.
	pages *http.ServeMux
	// depend is to be called once by the role, as soon as it can ask for what it
	// works with.
	depend func(dependencies ...telemetry.Dependency)
	// started is to be called once by the role, after depend, when it has opened
	// all that it needs.
	started func()
}

// runRole sets up telemetry and the health and metrics server, runs the role
// until it returns, and takes everything down again.
func runRole(ctx context.Context, cfg config.Config, role, version string, body func(context.Context, *host) error) (err error) {
	tel, err := telemetry.Setup(ctx, cfg.Telemetry, role, version)
	if err != nil {
		return err
	}
	tel.Install()
	defer func() {
		flushing, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		err = errors.Join(err, tel.Shutdown(flushing))
	}()
	h := &host{role: role, version: version, tel: tel, health: telemetry.NewHealth(), pages: http.NewServeMux()}
	ops, err := tel.ListenOps(ctx, cfg.Telemetry.HTTPAddr, h.health, h.pages)
	if err != nil {
		return err
	}
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stopServing()
	wg.Go(func() {
		if err := ops.Serve(serving); err != nil {
			tel.Log.ErrorContext(serving, "health and metrics are not served", "error", err)
		}
	})
	h.health.Starting()
	stopDependencies, err := metrics.ObserveDependencies(tel.Meters.Meter("github.com/rollcall-dev/rollcall"), h.health.Dependencies)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopDependencies()) }()
	h.depend = func(dependencies ...telemetry.Dependency) {
		h.health.Depend(dependencies...)
		wg.Go(func() { h.health.Run(serving) })
	}
	h.started = h.health.Started
	stopping := context.AfterFunc(ctx, h.health.Stopping)
	defer stopping()
	if err := body(ctx, h); err != nil {
		return fmt.Errorf("%s: %w", role, err)
	}
	return nil
}
