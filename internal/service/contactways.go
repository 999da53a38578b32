package service

import (
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/landing"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// WaysEvery is how often a keeper calls contactway.Maker.Sweep.
const WaysEvery = 5 * time.Second

// waysMargin is how long after the end of a call at WeCom its effect is looked
// for, beside the longest call: a listing may lag, and clocks differ.
const waysMargin = 25 * time.Second

// WayMakerParts are what contact ways are made with. All are required; they
// stay the caller's to close.
type WayMakerParts struct {
	DB        *mongostore.Database
	Vendor    *wecom.Vendor
	Announcer contactway.Announcer // publish.Publisher
	Meter     metric.Meter
	Log       *slog.Logger
}

var (
	_ ContactWays  = (*contactway.Maker)(nil)
	_ landing.Ways = (*contactway.Maker)(nil)
)

// NewWayMaker puts together what makes contact ways: for the API (Create,
// Adopt), the landing page (MemberWay) and the keeper (Sweep). It starts nothing
// and holds nothing that has to be closed.
func NewWayMaker(cfg config.Config, parts WayMakerParts) (*contactway.Maker, error) {
	observer, err := metrics.NewWays(parts.Meter)
	if err != nil {
		return nil, err
	}
	store := parts.DB.Ways()
	return contactway.NewMaker(contactway.Ports{
		Vendor:    wecom.NewWays(parts.Vendor, wecom.WaysOptions{}),
		Rows:      store,
		Codes:     store,
		Announcer: parts.Announcer,
		Observer:  observer,
	}, contactway.Options{
		Owner:      cfg.Refresher.Instance,
		SendWithin: max(cfg.WeCom.CallTimeout, 5*time.Second),
		Margin:     cfg.WeCom.CallTimeout + waysMargin,
		Step:       max(12*cfg.WeCom.CallTimeout, time.Minute),
		Logger:     parts.Log,
	}), nil
}
