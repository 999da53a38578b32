package service

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/landing"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/ratelimit"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// DrawingParts are what the draw is put together from. All are required; they
// stay the caller's to close.
type DrawingParts struct {
	Redis redis.UniversalClient
	// Store says whose a code is and reads the facts (mongostore.Store).
	Store interface {
		draw.Codes
		draw.Facts
	}
	Refresher draw.Refresher // publish.Publisher
	Ways      landing.Ways
	Meter     metric.Meter
	Log       *slog.Logger
}

// Drawing is what the ingress serves of the draw. It starts nothing and holds
// nothing that has to be closed.
type Drawing struct {
	// API serves POST and GET /v1/draw/{code}; it wants the grant of whoever
	// asks in the request's context (access.WithGrant).
	API http.Handler
	// Page serves /c/{code} to anybody.
	Page http.Handler
}

// NewDrawing puts the draw together.
func NewDrawing(cfg config.Config, parts DrawingParts) (*Drawing, error) {
	observer, err := metrics.NewDraws(parts.Meter)
	if err != nil {
		return nil, err
	}
	sets, err := redisrotation.New(parts.Redis, redisrotation.Options{
		Prefix: cfg.Redis.KeyPrefix, RepeatWithin: cfg.Draw.RepeatWithin,
	})
	if err != nil {
		return nil, fmt.Errorf("the draw: %w", err)
	}
	desk := draw.NewDesk(draw.Ports{
		Sets: sets, Trail: sets, Codes: parts.Store, Facts: parts.Store, Refresher: parts.Refresher, Observer: observer,
	}, draw.Options{Now: time.Now, Logger: parts.Log})
	site, err := landing.New(landing.Ports{
		Desk: desk, Ways: parts.Ways, Observer: observer,
		Grant: func(r *http.Request) (access.Grant, bool) { return access.GrantFrom(r.Context()) },
	}, landing.Options{
		Pace:         ratelimit.Limit{PerSecond: cfg.Draw.PageRate, Burst: cfg.Draw.PageBurst},
		Proxies:      landing.Proxies(cfg.Draw.Proxies),
		ImageSources: cfg.Draw.ImageSources,
		RepeatWithin: cfg.Draw.RepeatWithin,
		Now:          time.Now,
		Logger:       parts.Log,
	})
	if err != nil {
		return nil, err
	}
	return &Drawing{API: site.API(), Page: site.Page()}, nil
}
