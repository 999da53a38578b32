package service

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/rollcall-dev/rollcall/internal/backstop/lease"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// keeperRole is the name of the keepers' lease.
const keeperRole = "keeper"

func leaseOptions(cfg config.Config) lease.Options {
	return lease.Options{
		Role:   keeperRole,
		Holder: cfg.Refresher.Instance,
		Terms: lease.Terms{
			TTL:        cfg.Keeper.LeaseTTL,
			RenewEvery: cfg.Keeper.LeaseRenew,
			PollEvery:  cfg.Keeper.LeaseRenew / 4,
		},
	}
}

// duty turns what happens to the lease into logs, metrics and heartbeats. A
// keeper that stands by beats as "standby" on /livez, one that works by its
// sweeps. The elector calls its methods from one goroutine.
type duty struct {
	log     *slog.Logger
	metrics *metrics.Keeper
	health  *telemetry.Health
	limit   time.Duration
	held    atomic.Bool
	standby *telemetry.Heartbeat // nil while it works
	holder  string               // whose lease it was at the last look
}

func newDuty(log *slog.Logger, m *metrics.Keeper, health *telemetry.Health, limit time.Duration) *duty {
	return &duty{log: log, metrics: m, health: health, limit: limit, standby: health.Heartbeat("standby", limit)}
}

// Watching beats, and tells of a holder once.
func (d *duty) Watching(ctx context.Context, seen lease.State) {
	d.standby.Beat()
	if seen.Holder != d.holder {
		d.holder = seen.Holder
		d.log.InfoContext(ctx, "standby: another keeper holds the lease", "holder", seen.Holder, "token", seen.Token)
	}
}

// Took ends the standby.
func (d *duty) Took(ctx context.Context, token int64, why lease.Opening) {
	d.standby.End()
	d.held.Store(true)
	d.metrics.TookOver(ctx, string(why))
	d.log.InfoContext(ctx, "the lease is ours: sweeping", "token", token, "opening", why)
}

// Ended begins the standby.
func (d *duty) Ended(ctx context.Context, token int64, cause error) {
	d.held.Store(false)
	d.holder = ""
	d.standby = d.health.Heartbeat("standby", d.limit)
	if cause != nil {
		d.log.WarnContext(ctx, "the lease is lost: sweeps were stopped", "token", token, "error", cause)
		return
	}
	d.log.InfoContext(ctx, "sweeps were stopped; the lease is given up", "token", token)
}

// Failed beats: a store that is away is no reason to restart.
func (d *duty) Failed(ctx context.Context, err error) {
	if !d.held.Load() {
		d.standby.Beat()
	}
	if !errors.Is(err, context.Canceled) {
		d.log.WarnContext(ctx, "the lease could not be asked for; it is tried again", "error", err)
	}
}
