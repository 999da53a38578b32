package service

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisserver"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/preflight"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// PreflightOptions say what preflight looks at beside the configuration.
type PreflightOptions struct {
	Tenant     string   // whose credentials are tried; "" is nobody's
	Partitions int      // of the topic; 0 is any number above one
	Unknown    []string // config.Warnings
	// Timeout bounds one look; MendTimeout one mending, 0 mends nothing.
	Timeout, MendTimeout time.Duration
}

// Preflight looks at all that Rollcall stands on, on connections of its own, and
// returns what came of each check. No secret is in a result.
func Preflight(ctx context.Context, cfg config.Config, o PreflightOptions) []preflight.Result {
	logging.Disable() // go-redis writes failures to standard error by itself; here they are findings
	p := &preflighting{cfg: cfg, o: o}
	defer func() { _ = p.closers.close(ctx, flushTimeout) }() // the process ends with the command
	checks := preflight.SettingsChecks(preflight.Settings{
		Unknown: o.Unknown, SealKey: cfg.Seal.Keys.Ring().Sealing(), TokenKey: cfg.WeCom.TokenKey.Set(),
	})
	checks = append(checks, p.pulsar()...)
	checks = append(checks, p.mongo()...)
	checks = append(checks, p.redis()...)
	checks = append(checks, p.wecom()...)
	results := preflight.Run(ctx, checks, preflight.Options{Timeout: o.Timeout, MendTimeout: o.MendTimeout})
	for i := range results {
		results[i].Found = telemetry.Scrub(strings.Join(strings.Fields(results[i].Found), " ")) // an error may have several lines
	}
	return results
}

// preflighting opens what the checks need. What cannot be opened is the failure
// of its first check.
type preflighting struct {
	cfg     config.Config
	o       PreflightOptions
	db      *mongostore.Database
	closers closers
}

// broken is the check of a part that cannot even be opened.
func broken(name string, err error) []preflight.Check {
	return []preflight.Check{{Name: name, Look: func(context.Context) preflight.Finding {
		return preflight.Finding{Verdict: preflight.Fail, Found: err.Error(), Remedy: "correct the variable or the file that it names"}
	}}}
}

func (p *preflighting) pulsar() []preflight.Check {
	o := busOptions(p.cfg, nil, telemetry.Silent())
	o.OperationTimeout = min(o.OperationTimeout, p.o.Timeout)
	visitor, err := pulsarbus.NewVisitor(o)
	if err != nil {
		return broken("pulsar.connect", err)
	}
	p.closers.add(func(context.Context) error { go visitor.Close(); return nil }) // it may wait for the broker
	var admin preflight.BrokerAdmin
	if p.cfg.Pulsar.AdminURL != "" {
		asked, err := openAdmin(p.cfg.Pulsar)
		if err != nil {
			return broken("pulsar.admin", err)
		}
		p.closers.add(func(context.Context) error { asked.Close(); return nil })
		admin = asked.Inspector()
	}
	return preflight.PulsarChecks(preflight.Bus{
		Topic: p.cfg.Pulsar.Topic, Subscription: p.cfg.Pulsar.Subscription,
		DeadLetterTopic: p.cfg.Pulsar.DeadLetterTopic, DeadLetterSubscription: pulsarbus.DefaultDeadLetterSubscription,
		Partitions: p.o.Partitions, Unacked: p.cfg.Pulsar.ReceiverQueue + p.cfg.Refresher.MaxHeld,
		Instances: p.cfg.Budget.Instances, Margin: p.cfg.Refresher.IntentMargin,
	}, visitor, admin)
}

func (p *preflighting) mongo() []preflight.Check {
	var err error
	if p.db, err = openMongo(p.cfg, "preflight"); err != nil {
		return broken("mongodb.reach", err)
	}
	p.closers.add(p.db.Close)
	return preflight.MongoDBChecks(p.db.Inspector(), p.cfg.Refresher.IntentMargin)
}

func (p *preflighting) redis() []preflight.Check {
	cfg := p.cfg.Redis
	cfg.Timeout = max(cfg.Timeout, time.Second) // whether it is quick enough is not the question
	client, err := openRedis(cfg, telemetry.Silent())
	if err != nil {
		return broken("redis.reach", err)
	}
	p.closers.add(func(context.Context) error { return client.Close() })
	return preflight.RedisChecks(triedCache{redisserver.New(client), p.cfg, client}, p.cfg.Refresher.IntentMargin)
}

func (p *preflighting) wecom() []preflight.Check {
	transport := wecom.NewTransport(wecom.TransportOptions{Proxy: http.ProxyFromEnvironment})
	p.closers.add(func(context.Context) error { transport.CloseIdleConnections(); return nil })
	endpoint, err := wecom.NewEndpoint(wecom.EndpointOptions{
		HTTP: &http.Client{Transport: transport}, BaseURL: p.cfg.WeCom.BaseURL, Timeout: p.cfg.WeCom.CallTimeout,
		TracerProvider: telemetry.Silent().Tracers, MeterProvider: telemetry.Silent().Meters,
	})
	if err != nil {
		return broken("wecom.reach", err)
	}
	v := triedVendor{endpoint, p.db}
	checks := preflight.WeComChecks(v, p.cfg.WeCom.BaseURL, p.cfg.Refresher.IntentMargin)
	if p.o.Tenant != "" {
		checks = append(checks, preflight.TenantChecks(v, tenantsOf{p.db}, p.o.Tenant)...)
	}
	return checks
}

// triedCache runs the scripts under keys that nobody else has.
type triedCache struct {
	*redisserver.Instance
	cfg    config.Config
	client redis.UniversalClient
}

var _ preflight.Cache = triedCache{}

// TryScripts runs the budget's and the rotation sets' scripts.
func (c triedCache) TryScripts(ctx context.Context) error {
	o := budgetOptions(c.cfg, telemetry.Silent())
	o.Prefix += "preflight:"
	budget, err := redisbudget.New(c.client, o)
	if err != nil {
		return err
	}
	rotation, err := redisrotation.New(c.client, redisrotation.Options{Prefix: o.Prefix})
	if err != nil {
		return err
	}
	ref := push.Ref{Tenant: "preflight", Code: rand.Text()}
	if err := budget.Try(ctx, push.Ask{Ref: push.Ref{Tenant: ref.Code, Code: ref.Code}}); err != nil {
		return err
	}
	_, _, err = rotation.Replace(ctx, ref, 0, push.Set{Seats: []roster.Seat{{Staff: "preflight", Headroom: 1}}})
	if err == nil {
		_, err = rotation.Draw(ctx, ref, "")
	}
	removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout) // it has no expiry
	defer cancel()
	return errors.Join(err, rotation.Delete(removing, ref))
}

// triedVendor asks WeCom with tokens of its own.
type triedVendor struct {
	endpoint *wecom.Endpoint
	db       *mongostore.Database
}

var _ preflight.Vendor = triedVendor{}

// Greet makes a call without credentials.
func (v triedVendor) Greet(ctx context.Context) (preflight.Greeting, error) {
	return v.endpoint.Greet(ctx)
}

// Try uses a tenant's credentials once, and keeps no token.
func (v triedVendor) Try(ctx context.Context, tenant string) (preflight.Tried, error) {
	tokens := wecom.NewTokens(v.endpoint, credentials{v.db}, wecom.TokensOptions{})
	defer tokens.Close()
	return wecom.Try(ctx, wecom.NewClient(v.endpoint, tokens), tenant)
}

// tenantsOf reads what preflight asks of a tenant.
type tenantsOf struct{ db *mongostore.Database }

var _ preflight.Tenants = tenantsOf{}

// Callback reports whether there are callback settings that open.
func (t tenantsOf) Callback(ctx context.Context, tenant string) (bool, error) {
	_, err := t.db.Callback(ctx, tenant)
	if errors.Is(err, mongostore.ErrNoCallback) {
		return false, nil
	}
	return err == nil, err
}
