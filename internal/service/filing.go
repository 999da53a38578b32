package service

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/notify"
)

// newFiler returns who files notices.
func newFiler(db *mongostore.Database, _ metric.Meter) (notify.Filer, error) {
	return notify.NewFiling(db.Channels(), db.Deliveries(), unobserved{}, time.Now), nil
}

type unobserved struct{}

func (unobserved) Filed(context.Context, notify.Kind, notify.Fate) {}
func (unobserved) Moved(context.Context, notify.Via, notify.State) {}
