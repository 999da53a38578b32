package service

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// The rhythm and size of what mends.
const (
	settleEvery   = time.Second
	settleBatch   = 500
	settleBatches = 20
	// settleMargin is for an event that waits in line, beside its longest hold.
	settleMargin = 5 * time.Second
	// auditOpen chunks may wait for their second look; a chunk that is older
	// than the bound and this counts as abandoned.
	auditOpen     = 64
	auditPatience = 2 * time.Minute
)

// auditing is what a keeper compares codes with their facts by.
type auditing struct {
	looks    *mongostore.Looks
	standing *redisrotation.Standing
	slots    *redisbudget.Slots
	metrics  *metrics.Backstop
	census   atomic.Pointer[[]metrics.DirtyCount]
}

func newAuditing(cfg config.Config, db *mongostore.Database, client redis.UniversalClient, tel *telemetry.Telemetry) (*auditing, error) {
	standing, err := redisrotation.NewStanding(client, redisrotation.Options{Prefix: cfg.Redis.KeyPrefix})
	if err != nil {
		return nil, err
	}
	slots, err := redisbudget.NewSlots(client, budgetOptions(cfg, tel))
	if err != nil {
		return nil, err
	}
	seen, err := metrics.NewBackstop(tel.Meters.Meter("github.com/rollcall-dev/rollcall"))
	if err != nil {
		return nil, err
	}
	return &auditing{looks: db.Looks(), standing: standing, slots: slots, metrics: seen}, nil
}

// walker passes over all codes, beside those of the other keepers.
func (a *auditing) walker(cfg config.Config, db *mongostore.Database, sampler audit.Sampler, beat func(), log *slog.Logger) *audit.Walker {
	return audit.New(audit.Ports{
		Codes: a.looks, Records: a.looks, Sets: a.standing, Slots: a.slots, Passes: db.Passes(), Dirty: db.Dirty(),
		Findings: db.Findings(), Sampler: sampler, Observer: auditObserver{a.metrics},
	}, audit.Options{
		Owner: cfg.Refresher.Instance, Rate: cfg.Audit.Rate, ChunkSize: cfg.Audit.Chunk, MaxOpen: auditOpen,
		Bound: cfg.Audit.Bound, Every: cfg.Audit.Every, Patience: auditPatience, Beat: beat,
		Lanes: laneRules(cfg), Now: time.Now, Logger: log,
	})
}

// settler takes codes out of the dirty set that agree with their facts.
func (a *auditing) settler(cfg config.Config, dirty backstop.DirtySet, log *slog.Logger) *backstop.Settler {
	confirmer := audit.NewConfirmer(a.looks, a.standing, a.slots, laneRules(cfg), time.Now)
	return backstop.NewSettler(dirty, confirmer, backstop.SettlerOptions{
		Confirm: cfg.Keeper.Confirm, Patience: cfg.Refresher.ParkAfter + cfg.Refresher.MaxHold + settleMargin, Batch: settleBatch, Batches: settleBatches, Now: time.Now, Logger: log,
	})
}

// settle sweeps and tells the metrics.
func (a *auditing) settle(ctx context.Context, settler *backstop.Settler) error {
	settled, err := settler.Sweep(ctx)
	a.metrics.Settled(ctx, metrics.SettledAgreed, settled.Agreed)
	a.metrics.Settled(ctx, metrics.SettledWaiting, settled.Waiting)
	a.metrics.Settled(ctx, metrics.SettledRepeated, settled.Repeated)
	return err
}

// count counts the dirty set for the metrics.
func (a *auditing) count(ctx context.Context, dirty *mongostore.Dirty) error {
	counts, err := dirty.Count(ctx)
	if err != nil {
		return err
	}
	census := make([]metrics.DirtyCount, len(counts))
	for i, c := range counts {
		census[i] = metrics.DirtyCount{Reason: c.Reason, Codes: c.Codes, Oldest: time.Since(c.Oldest)}
	}
	a.census.Store(&census)
	return nil
}

// counted is the last census; nothing while this keeper stands by.
func (a *auditing) counted() []metrics.DirtyCount {
	if census := a.census.Load(); census != nil {
		return *census
	}
	return nil
}

// forget ends what a keeper that loses the lease knew.
func (a *auditing) forget() { a.census.Store(nil) }

// auditObserver turns what the audit tells into metrics.
type auditObserver struct{ metrics *metrics.Backstop }

func (o auditObserver) Looked(ctx context.Context, f audit.Finding) {
	result := f.Kind.String()
	switch {
	case f.Shadowed && f.Kind == "":
		result = audit.TallyShadowed
	case f.Agrees():
		result = audit.TallyAgrees
	case f.Waits != "":
		result = audit.TallyWaits
	}
	o.metrics.Looked(ctx, result)
}

func (o auditObserver) Passed(ctx context.Context, pass audit.Pass) {
	o.metrics.Passed(ctx, pass.Ended.Sub(pass.Begun))
}
