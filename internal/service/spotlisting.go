package service

import (
	"context"
	"iter"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// ListDifferences yields the differences that the spot check found, in the order
// of tenants and codes.
func ListDifferences(ctx context.Context, cfg config.Config, which spot.Selection) iter.Seq2[spot.Difference, error] {
	of := func(db *mongostore.Database) lister[spot.Difference] {
		store := db.Spots()
		return func(ctx context.Context, after push.Ref, limit int) ([]spot.Difference, error) {
			which.After = after
			return store.List(ctx, which, limit)
		}
	}
	return listFrom(ctx, cfg, of, func(d spot.Difference) push.Ref { return d.Ref })
}

// TallySpots adds up what the spot check counted of each tenant, or of one, in
// the last days, today (UTC) included.
func TallySpots(ctx context.Context, cfg config.Config, tenant string, days int, now time.Time) (tallies map[string]spot.Tally, err error) {
	from := roster.DayOf(now.AddDate(0, 0, 1-days), time.UTC)
	err = withMongo(ctx, cfg, func(db *mongostore.Database) (err error) {
		tallies, err = tallied(db.Spots().Since(ctx, tenant, from))
		return err
	})
	return tallies, err
}

func tallied(days iter.Seq2[spot.TenantDay, error]) (map[string]spot.Tally, error) {
	tallies := map[string]spot.Tally{}
	for day, err := range days {
		if err != nil {
			return nil, err
		}
		tallies[day.Tenant] = tallies[day.Tenant].Plus(day.Tally)
	}
	return tallies, nil
}
