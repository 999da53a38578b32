package service

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/httpapi"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/ratelimit"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// APIParts are what the API is put together from. All are required; they stay
// the caller's to close.
type APIParts struct {
	DB        *mongostore.Database
	Publisher registry.Publisher // publish.Publisher
	FanOuts   fanout.Requester
	Ways      registry.Ways
	Meter     metric.Meter
	Log       *slog.Logger
	Rate      float64 // codes a second that a tenant's fan-outs release
}

// API is what the ingress serves of the API. It starts nothing and holds nothing
// that has to be closed.
type API struct {
	// Handler serves /v1 but the draw, its authentication included.
	Handler http.Handler
	// Draws lets draws in, at their own pace: it puts the grant into the
	// context.
	Draws *httpapi.Gate
}

// NewAPI puts the API together.
func NewAPI(cfg config.Config, parts APIParts) (*API, error) {
	observer, err := metrics.NewAPI(parts.Meter)
	if err != nil {
		return nil, err
	}
	verifier := access.NewVerifier(parts.DB.Tokens(), access.VerifierOptions{
		Fresh: cfg.API.TokenFresh, Grace: cfg.API.TokenGrace, Max: cfg.API.TokensKept, Now: time.Now,
	})
	facts := newRegistry(parts.DB, parts.Publisher, parts.FanOuts, parts.Ways)
	handler := httpapi.New(httpapi.Options{
		Registry: facts, FanOuts: parts.DB.FanOuts(), Secrets: tenantSecrets{parts.DB}, Shadows: newShadowDesk(parts.DB), Answers: parts.DB.Answers(),
		Gate:     httpapi.NewGate(verifier, ratelimit.Limit{PerSecond: cfg.API.Rate, Burst: cfg.API.Burst}, observer),
		Observer: observer, Logger: parts.Log, ImportLimit: int64(cfg.API.ImportLimitMB) << 20, Rate: parts.Rate, Now: time.Now,
	})
	draws := httpapi.NewGate(verifier, ratelimit.Limit{PerSecond: cfg.API.DrawRate, Burst: cfg.API.DrawBurst}, observer)
	return &API{Handler: handler, Draws: draws}, nil
}

// FactsSweepEvery is how often a keeper sweeps with registry.Registry.Sweep.
const FactsSweepEvery = 30 * time.Second

// newRegistry puts the writing of facts together: for the API, and for the
// keeper, which announces what a process that died did not. The keeper makes no
// contact ways by it; ways may be nil there.
func newRegistry(db *mongostore.Database, publisher registry.Publisher, fanOuts fanout.Requester, ways registry.Ways) *registry.Registry {
	return registry.New(registry.Options{
		Facts: db.Registry(), Publisher: publisher, FanOuts: fanOuts, Ways: ways, Now: time.Now,
	})
}

// tenantSecrets keeps secrets in MongoDB.
type tenantSecrets struct{ db *mongostore.Database }

var _ httpapi.Secrets = tenantSecrets{}

// PutCredentials seals and stores them.
func (s tenantSecrets) PutCredentials(ctx context.Context, tenant, corpID, secret string) error {
	return sealing(s.db.Facts().PutCredentials(ctx, tenant, corpID, secret))
}

// PutCallback seals and stores them.
func (s tenantSecrets) PutCallback(ctx context.Context, tenant string, callback httpapi.Callback) error {
	return sealing(s.db.Facts().PutCallback(ctx, tenant, mongostore.Callback(callback)))
}

// Describe shows what is set.
func (s tenantSecrets) Describe(ctx context.Context, tenant string) (httpapi.SecretsView, error) {
	view, err := s.db.DescribeCredentials(ctx, tenant)
	return httpapi.SecretsView{
		CorpID: view.CorpID, Secret: httpapi.Kept(view.Secret), CallbackToken: httpapi.Kept(view.CallbackToken),
		CallbackKey: httpapi.Kept(view.CallbackKey), ReceiveIDs: view.ReceiveIDs,
	}, err
}

// PutChannels seals and stores them.
func (s tenantSecrets) PutChannels(ctx context.Context, tenant string, channels notify.Channels) error {
	return sealing(s.db.Channels().PutChannels(ctx, tenant, channels))
}

// Channels opens them.
func (s tenantSecrets) Channels(ctx context.Context, tenant string) (notify.Channels, error) {
	return s.db.Channels().Channels(ctx, tenant)
}

func sealing(err error) error {
	if errors.Is(err, seal.ErrNoKeys) {
		return httpapi.ErrNoSealingKey
	}
	return err
}
