package service

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// How the trail is written: many entries at once, soon, and never instead of
// something else.
const (
	trailRoom    = 8192
	trailBatch   = 500
	trailEvery   = time.Second
	trailTimeout = 5 * time.Second
	trailCodes   = 100_000
)

// startTrail has entries written until stop, which writes what is left.
func startTrail(ctx context.Context, db *mongostore.Database, meter metric.Meter, tel *telemetry.Telemetry) (recorder *trail.Recorder, stop func(context.Context) error, err error) {
	seen, err := metrics.NewTrail(meter)
	if err != nil {
		return nil, nil, err
	}
	recorder = trail.NewRecorder(db.Trails(), trail.Options{
		Room: trailRoom, Batch: trailBatch, Every: trailEvery, Timeout: trailTimeout, Codes: trailCodes,
		Count: seen.Noted, Now: time.Now, Logger: tel.Log,
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { recorder.Run(ctx) })
	return recorder, func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	}, nil
}

// trailedRefresher notes what a refresh has to wait for.
type trailedRefresher struct {
	intake.Refresher
	trail *trail.Recorder
}

func (r trailedRefresher) Refresh(ctx context.Context, ref push.Ref, observe func()) push.Outcome {
	out := r.Refresher.Refresh(ctx, ref, observe)
	r.trail.Ended(ctx, ref, out)
	return out
}

// trailedQuota notes who is at a ceiling.
type trailedQuota struct {
	*metrics.Quota
	trail *trail.Recorder
}

var _ quota.Observer = trailedQuota{}

func (q trailedQuota) Reached(ctx context.Context, of quota.Counting, c quota.Ceiling) {
	q.Quota.Reached(ctx, of, c)
	q.trail.Full(ctx, of, c)
}
