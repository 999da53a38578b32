package service

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/backstop/lease"
	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// The keeper's rhythm.
const (
	releaseEvery  = time.Second
	intentsEvery  = 15 * time.Second
	intentsWhole  = 10 * time.Minute
	sweepParallel = 16
	// sweepLimit is the age of a sweep's last beat from which the process
	// counts as hung: a broker that is away holds one up for its send timeout.
	sweepLimit = 3 * time.Minute
	// indexLimit bounds the making of indexes, which takes minutes on large
	// collections.
	indexLimit = 30 * time.Minute
)

// keeper is one process that stands by or sweeps.
type keeper struct {
	loopRole
	health    *telemetry.Health
	sweeping  *metrics.Keeper
	notifying *notifying
	heart     *pulsarbus.Heart
	auditing  *auditing
	comparer  *shadow.Comparer
	watch     *brokerWatch // nil without an admin URL
}

// RunKeeper sweeps while it holds the keepers' lease, and stands by while
// another one does, until ctx ends. Then it stops its sweeps and gives the lease
// up, so that another one goes on at once.
func RunKeeper(ctx context.Context, cfg config.Config, version string, seams ...Seams) error {
	return runRole(ctx, cfg, "keeper", version, func(ctx context.Context, host *host) error {
		k := &keeper{loopRole: loopRole{cfg: cfg, tel: host.tel, seams: seams}, health: host.health}
		return errors.Join(k.run(ctx, host), k.closers.close(ctx, cfg.Refresher.DrainTimeout))
	})
}

func (k *keeper) run(ctx context.Context, host *host) error {
	if err := k.open(ctx); err != nil {
		return err
	}
	duty := newDuty(k.tel.Log, k.sweeping, k.health, 4*k.cfg.Keeper.LeaseTTL)
	stop, err := k.sweeping.ObserveLease(duty.held.Load)
	if err != nil {
		return err
	}
	k.closers.add(func(context.Context) error { return stop() })
	host.depend(append(toldOnly(redisOf(k.redis), k.broker()), mongoOf(k.db))...)
	stopTelling, err := startTelling(ctx, k.cfg, host, telling{redis: k.redis, add: func(_ time.Time, r *board.Report) { r.Leads = duty.held.Load() }})
	if err != nil {
		return err
	}
	k.closers.add(stopTelling)
	host.started()
	stopCensus, err := k.auditing.metrics.ObserveDirty(k.auditing.counted)
	if err != nil {
		return err
	}
	k.closers.add(func(context.Context) error { return stopCensus() })
	k.tel.Log.InfoContext(ctx, "keeper ready", "instance", k.cfg.Refresher.Instance, "releases_per_second_and_tenant", k.tenantRate)
	var walking sync.WaitGroup
	walking.Go(func() { k.walk(ctx) })
	defer walking.Wait()
	lease.NewElector(k.db.Leases(), duty, leaseOptions(k.cfg)).Run(ctx, k.work)
	return nil
}

// open connects to everything; what it opened, closers ends.
func (k *keeper) open(ctx context.Context) error {
	if err := k.loopRole.open(ctx, "keeper", fanOutPoll); err != nil {
		return err
	}
	var err error
	if k.sweeping, err = metrics.NewKeeper(k.meter); err != nil {
		return err
	}
	if k.heart, err = pulsarbus.NewHeart(busOptions(k.cfg, nil, k.tel)); err != nil {
		return err
	}
	k.closers.add(func(context.Context) error { k.heart.Close(); return nil })
	if k.auditing, err = newAuditing(k.cfg, k.db, k.redis, k.tel); err != nil {
		return err
	}
	if k.comparer, err = NewComparer(k.cfg, k.db, k.meter, k.tel.Log); err != nil {
		return err
	}
	if err := k.openWatch(ctx); err != nil {
		return err
	}
	return k.openNotifying(ctx)
}

// walk audits until ctx ends, whoever has the lease: walkers share their work by
// claims.
func (k *keeper) walk(ctx context.Context) {
	beat := k.health.Heartbeat("audit", sweepLimit)
	defer beat.End()
	k.auditing.walker(k.cfg, k.db, newSampler(k.cfg, k.db, k.vendor, k.budget), beat.Beat, k.tel.Log).Run(ctx)
}

// work sweeps until ctx ends. What it knows of earlier sweeps begins anew with
// every taking of the lease.
func (k *keeper) work(ctx context.Context, _ int64) {
	defer k.auditing.forget()
	var running sync.WaitGroup
	running.Go(func() { k.ensureIndexes(ctx) })
	k.completeLoop(ctx, &running)
	for _, s := range slices.Concat(k.mendingSweeps(), k.watchingSweeps()) {
		running.Go(func() { k.every(ctx, s.rhythm, s.name, func() error { return s.run(ctx) }) })
	}
	running.Wait()
	if k.watch != nil {
		k.watch.forget()
	}
}

// sweep is one of the keeper's loops.
type sweep struct {
	name   metrics.Sweep
	rhythm time.Duration
	run    func(context.Context) error
}

// mendingSweeps bring codes back that are due, and those of the dirty set.
func (k *keeper) mendingSweeps() []sweep {
	dirty := dirtySet{k.db.Dirty()}
	settler := k.auditing.settler(k.cfg, dirty, k.tel.Log)
	due := dueCodes(k.db, k.cfg.Keeper.MendShare*k.tenantRate, k.cfg.Keeper.Confirm)
	releaser := backstop.NewReleaser(due, publisher{k.producer}, backstop.ReleaserOptions{
		TenantRate: k.tenantRate, TotalRate: k.totalRate, Parallel: sweepParallel, Now: time.Now, Logger: k.tel.Log,
	})
	marker := backstop.NewMarker(k.db.Store(), dirty, backstop.MarkerOptions{
		Margin:     2 * (k.cfg.WeCom.CallTimeout + k.cfg.Refresher.IntentMargin),
		WholeEvery: intentsWhole, Parallel: sweepParallel, Now: time.Now,
	})
	return []sweep{
		{metrics.SweepRelease, releaseEvery, func(ctx context.Context) error {
			released, err := releaser.Sweep(ctx)
			k.sweeping.Released(ctx, released.ByReason, released.Late)
			return err
		}},
		{metrics.SweepIntents, intentsEvery, func(ctx context.Context) error {
			marked, err := marker.Sweep(ctx)
			k.sweeping.Marked(ctx, marked)
			return err
		}},
		{metrics.SweepSettle, settleEvery, func(ctx context.Context) error { return k.auditing.settle(ctx, settler) }},
	}
}

// watchingSweeps look at how things are, and keep the broker awake.
func (k *keeper) watchingSweeps() []sweep {
	sweeps := []sweep{
		{metrics.SweepCensus, k.cfg.Keeper.Census, func(ctx context.Context) error { return k.auditing.count(ctx, k.db.Dirty()) }},
		{metrics.SweepShadows, ShadowSweepEvery, func(ctx context.Context) error {
			_, err := k.comparer.Sweep(ctx)
			return err
		}},
		{metrics.SweepHeartbeat, k.cfg.Keeper.Heartbeat, k.heart.Beat},
	}
	if k.watch != nil {
		sweeps = append(sweeps, sweep{metrics.SweepWatch, k.cfg.Keeper.Watch, k.watch.look})
	}
	return sweeps
}

// every sweeps at once and then in its rhythm, until ctx ends. A sweep that
// fails is told and tried again.
func (k *keeper) every(ctx context.Context, rhythm time.Duration, name metrics.Sweep, sweep func() error) {
	beat := k.health.Heartbeat(string(name), sweepLimit)
	defer beat.End()
	tick := time.NewTicker(rhythm)
	defer tick.Stop()
	for {
		beat.Beat()
		begun := time.Now()
		err := sweep()
		k.sweeping.Swept(ctx, name, time.Since(begun))
		if err != nil && ctx.Err() == nil {
			k.tel.Log.ErrorContext(ctx, "sweep failed; it is tried again", "sweep", name, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ensureIndexes makes the indexes of the slow loops. Without them the sweeps
// are slow and right, so a failure is told and no more.
func (k *keeper) ensureIndexes(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, indexLimit)
	defer cancel()
	if err := k.db.EnsureIndexes(ctx); err != nil && !errors.Is(err, context.Canceled) {
		k.tel.Log.WarnContext(ctx, "indexes are missing; sweeps may be slow", "error", err)
	}
}

// publisher publishes what is due.
type publisher struct{ producer refresh.Publisher }

// Publish hands all over before it waits for the first answer.
func (p publisher) Publish(ctx context.Context, entries []backstop.Entry) []error {
	now := time.Now()
	events := make([]refresh.Event, len(entries))
	for i, e := range entries {
		events[i] = event(e.Ref, eventReason(e), now)
	}
	return publishAll(ctx, p.producer, events, backstop.ErrUnpublishable)
}
