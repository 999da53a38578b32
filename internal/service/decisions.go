package service

import (
	"context"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/decision"
)

// ListDecisions returns at most limit decisions of operators, the newest first.
func ListDecisions(ctx context.Context, cfg config.Config, limit int) ([]decision.Decision, error) {
	var all []decision.Decision
	err := withMongo(ctx, cfg, func(db *mongostore.Database) (err error) {
		all, err = db.Decisions().List(ctx, limit)
		return err
	})
	return all, err
}
