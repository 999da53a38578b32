package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// AuditState is what an operator is told of the audit.
type AuditState struct {
	Pass  audit.Pass
	Codes int64 // about how many there are
}

// AuditStateOf reads where the audit stands.
func AuditStateOf(ctx context.Context, cfg config.Config) (AuditState, error) {
	var state AuditState
	err := withMongo(ctx, cfg, func(db *mongostore.Database) (err error) {
		if state.Pass, err = db.Passes().Get(ctx); err != nil {
			return err
		}
		state.Codes, err = db.Looks().Count(ctx)
		return err
	})
	return state, err
}

// AuditScale reads what an estimate rests on: how many codes there are, how many
// the largest tenant has, the calls that WeCom allows, and the configured rate of
// the walk.
func AuditScale(ctx context.Context, cfg config.Config) (audit.Scale, error) {
	scale := audit.Scale{Share: cfg.Keeper.MendShare, WalkRate: cfg.Audit.Rate, Keepers: 1}
	err := withMongo(ctx, cfg, func(db *mongostore.Database) (err error) {
		if scale.Codes, err = db.Looks().Count(ctx); err != nil {
			return err
		}
		scale.Largest, err = db.Looks().Largest(ctx)
		return err
	})
	budget := cfg.Budget
	scale.TenantRate = min(allowed(budget.TenantPerMinute, budget.Minute), allowed(budget.TenantPerHour, budget.Hour))
	scale.TotalRate = min(allowed(budget.IPPerMinute, budget.Minute), allowed(budget.IPPerHour, budget.Hour))
	return scale, err
}

// allowed is so many calls in a window, a second.
func allowed(calls int, per time.Duration) float64 { return float64(calls) / per.Seconds() }

// FindingsSeen returns what the audit found since an instant that no refresh can
// mend, the latest first.
func FindingsSeen(ctx context.Context, cfg config.Config, since time.Time, limit int) ([]mongostore.Found, error) {
	var found []mongostore.Found
	err := withMongo(ctx, cfg, func(db *mongostore.Database) (err error) {
		found, err = db.Findings().List(ctx, since, limit)
		return err
	})
	return found, err
}

// RunAudit walks one whole pass at a rate (negative: as fast as it goes), or what
// is left of the one under way, beside the keepers that walk. each is called
// after every step. What differs becomes dirty.
func RunAudit(ctx context.Context, cfg config.Config, rate float64, each func(audit.Pass)) (audit.Summary, error) {
	cfg.Audit.Rate, cfg.Audit.Every = rate, 0
	var summary audit.Summary
	err := withMongo(ctx, cfg, func(db *mongostore.Database) error {
		tel := telemetry.Silent()
		client, err := openRedis(cfg.Redis, tel)
		if err != nil {
			return err
		}
		defer func() { _ = client.Close() }() // the process ends with the pass
		auditing, err := newAuditing(cfg, db, client, tel)
		if err != nil {
			return err
		}
		summary, err = walkOnce(ctx, auditing.walker(cfg, db, nil, func() {}, slog.New(slog.DiscardHandler)), db.Passes(), each)
		return err
	})
	return summary, err
}

// walkOnce steps until the pass that is under way, or the next one, has ended.
func walkOnce(ctx context.Context, walker *audit.Walker, passes audit.Passes, each func(audit.Pass)) (audit.Summary, error) {
	before, err := passes.Get(ctx)
	if err != nil {
		return audit.Summary{}, err
	}
	ends := before.Number
	if before.Number == 0 || !before.Ended.IsZero() {
		ends++
	}
	for ctx.Err() == nil {
		wait, err := walker.Step(ctx)
		if err != nil {
			return audit.Summary{}, err
		}
		pass, err := passes.Get(ctx)
		if err != nil {
			return audit.Summary{}, err
		}
		each(pass)
		if pass.Last.Number >= ends {
			return pass.Last, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return audit.Summary{}, ctx.Err()
}
