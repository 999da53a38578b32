package service

import (
	"context"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// The rhythm in which what was begun elsewhere is completed.
const (
	additionsEvery = 5 * time.Second
	forgetEvery    = 10 * time.Second
)

func (k *keeper) openNotifying(ctx context.Context) error {
	seen, err := metrics.NewNotifications(k.meter)
	if err != nil {
		return err
	}
	tell, stopAlerts, err := startAlerter(ctx, k.cfg, k.redis, seen, k.tel)
	if err != nil {
		return err
	}
	k.closers.add(stopAlerts)
	if k.notifying, err = newNotifying(k.cfg, k.db, seen, tell, k.tel); err != nil {
		return err
	}
	k.closers.add(k.notifying.close)
	return nil
}

// completeLoop completes what callbacks and the API have begun, works on
// fan-outs and delivers notices, until ctx ends.
func (k *keeper) completeLoop(ctx context.Context, sweeps *sync.WaitGroup) {
	sweeps.Go(func() { k.loop.runner.Run(ctx) })
	completing := func(name metrics.Sweep, rhythm time.Duration, sweep func(context.Context) (int, error)) {
		sweeps.Go(func() {
			k.every(ctx, rhythm, name, func() error {
				completed, err := sweep(ctx)
				if completed > 0 {
					k.tel.Log.DebugContext(ctx, "swept", "sweep", name, "completed", completed)
				}
				return err
			})
		})
	}
	completing(metrics.SweepAdditions, additionsEvery, k.loop.counter.Recover)
	completing(metrics.SweepForget, forgetEvery, k.loop.counter.Forget)
	completing(metrics.SweepWays, ContactWaysEvery, k.ways.Sweep)
	completing(metrics.SweepFacts, FactsSweepEvery, newRegistry(k.db, k.loop.publisher, k.loop.requests, k.ways).Sweep)
	k.notifying.run(ctx, k.every, sweeps)
}
