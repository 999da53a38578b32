package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom/redistoken"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// credentials hides a tenant's secret before anybody can print it.
type credentials struct{ db *mongostore.Database }

// Credentials returns the corp ID and the app secret of a tenant.
func (c credentials) Credentials(ctx context.Context, tenant string) (string, wecom.Secret, error) {
	corpID, secret, err := c.db.Credentials(ctx, tenant)
	if errors.Is(err, mongostore.ErrNoCredentials) {
		err = fmt.Errorf("tenant %s: %w", tenant, wecom.ErrNoCredentials)
	}
	return corpID, wecom.NewSecret(secret), err
}

// newVendor puts the WeCom client together. Tokens are shared through Redis
// only when there is a key to seal them with.
// The closer ends the fetching of tokens and the idle connections.
func newVendor(cfg config.Config, db *mongostore.Database, client redis.UniversalClient, tel *telemetry.Telemetry) (*wecom.Vendor, func(), error) {
	transport := wecom.NewTransport(wecom.TransportOptions{Proxy: http.ProxyFromEnvironment})
	endpoint, err := wecom.NewEndpoint(wecom.EndpointOptions{
		HTTP:           &http.Client{Transport: transport},
		BaseURL:        cfg.WeCom.BaseURL,
		Timeout:        cfg.WeCom.CallTimeout,
		Logger:         tel.Log,
		TracerProvider: tel.Tracers,
		MeterProvider:  tel.Meters,
	})
	if err != nil {
		return nil, nil, err
	}
	var options wecom.TokensOptions
	if cfg.WeCom.TokenKey.Set() {
		store, err := redistoken.New(client, redistoken.Options{Prefix: cfg.Redis.KeyPrefix, Key: cfg.WeCom.TokenKey.Reveal()})
		if err != nil {
			return nil, nil, err
		}
		options.Store = store
	}
	tokens := wecom.NewTokens(endpoint, credentials{db}, options)
	vendor := wecom.NewVendor(wecom.NewClient(endpoint, tokens), wecom.VendorOptions{
		AnswerGrace: min(cfg.WeCom.CallTimeout, cfg.Refresher.IntentMargin),
		Open:        cfg.WeCom.BreakerOpen,
	})
	return vendor, func() { tokens.Close(); transport.CloseIdleConnections() }, nil
}

func newBudget(cfg config.Config, client redis.UniversalClient, tel *telemetry.Telemetry) (*redisbudget.Budget, error) {
	return redisbudget.New(client, budgetOptions(cfg, tel))
}

func budgetOptions(cfg config.Config, tel *telemetry.Telemetry) redisbudget.Options {
	b := cfg.Budget
	return redisbudget.Options{
		Prefix:         cfg.Redis.KeyPrefix,
		Egress:         cfg.WeCom.Egress,
		Instances:      b.Instances,
		TenantWindows:  []redisbudget.Window{{Calls: b.TenantPerMinute, Per: b.Minute}, {Calls: b.TenantPerHour, Per: b.Hour}},
		TenantBurst:    b.TenantBurst,
		RemovalShare:   b.RemovalShare,
		IPWindows:      []redisbudget.Window{{Calls: b.IPPerMinute, Per: b.Minute}, {Calls: b.IPPerHour, Per: b.Hour}},
		IPBurst:        b.IPBurst,
		IPReserveShare: b.IPReserveShare,
		SpareShare:     b.SpareShare,
		Delay:          b.Delay,
		BlockFirst:     b.Minute, // WeCom blocks for as long as the window that was exceeded
		BlockAgain:     b.Hour,
		ParkAfter:      cfg.Refresher.ParkAfter,
		Logger:         tel.Log,
		Meter:          tel.Meters.Meter("github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"),
	}
}
