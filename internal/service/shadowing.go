package service

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// ShadowSweepEvery is how often a keeper sweeps with a shadow.Comparer.
const ShadowSweepEvery = 5 * time.Second

// newShadowDesk puts together what takes reports and tells how far a tenant is.
func newShadowDesk(db *mongostore.Database) *shadow.Desk {
	return shadow.NewDesk(db.Shadows(), db.Shadows(), time.Now)
}

// NewComparer puts together what compares lists, for the keeper.
func NewComparer(cfg config.Config, db *mongostore.Database, meter metric.Meter, log *slog.Logger) (*shadow.Comparer, error) {
	observer, err := metrics.NewShadows(meter)
	if err != nil {
		return nil, err
	}
	return shadow.NewComparer(shadow.Options{
		Store: db.Shadows(), Directory: db.Shadows(), Observer: observer, Settle: cfg.Shadow.Settle, Now: time.Now, Logger: log,
	}), nil
}

// MigrationReport tells how far a tenant is with moving over;
// push.ErrUnknownTenant.
func MigrationReport(ctx context.Context, cfg config.Config, tenant string) (report shadow.Readiness, err error) {
	err = withMongo(ctx, cfg, func(db *mongostore.Database) (err error) {
		report, err = newShadowDesk(db).Report(ctx, tenant)
		return err
	})
	return report, err
}
