//go:build integration

package migration

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	pulsarlog "github.com/apache/pulsar-client-go/pulsar/log"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/stack"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// installation is Rollcall with all its roles beside a WeCom: two refreshers, a
// keeper and an ingress on real servers.
type installation struct {
	*testing.T
	cfg      config.Config
	sim      *wecomsim.Sim
	simURL   string
	db       *mongostore.Database
	producer *refresh.Producer
	admin    *pulsarbus.Admin
}

// The rhythm of a rehearsal: what takes half a minute in production takes a second
// or two here.
const (
	settle      = time.Second
	callTimeout = 2 * time.Second
	margin      = 500 * time.Millisecond
	// auditBound keeps the audit from mending anything within a rehearsal: after
	// an event that was lost a list stays wrong.
	auditBound = time.Hour
)

func newInstallation(t *testing.T) *installation {
	t.Helper()
	in := &installation{T: t, sim: wecomsim.New(wecomsim.Options{Seed: 17})}
	t.Cleanup(in.sim.Close)
	server := httptest.NewServer(in.sim.Handler())
	t.Cleanup(server.Close)
	in.simURL = server.URL
	in.cfg = in.configure()
	in.connect()
	return in
}

func (in *installation) configure() config.Config {
	cfg, err := config.Load()
	in.must(err)
	name := "rehearsal-" + rand.Text()[:10]
	cfg.Pulsar.URL, cfg.Pulsar.AdminURL = stacktest.PulsarURL(in), stacktest.PulsarAdminURL(in)
	cfg.Pulsar.Topic = "persistent://public/default/" + name
	cfg.Pulsar.DeadLetterTopic = cfg.Pulsar.Topic + "-dead"
	cfg.MongoDB.URI, cfg.MongoDB.Database = config.NewSecretURL(stacktest.MongoURI(in)), name
	cfg.Redis.URL, cfg.Redis.KeyPrefix = config.NewSecretURL(stacktest.RedisURL(in)), name+":"
	cfg.WeCom.BaseURL, cfg.WeCom.CallTimeout, cfg.Refresher.IntentMargin = in.simURL, callTimeout, margin
	in.must(cfg.Seal.Keys.UnmarshalText([]byte(seal.Generate("test"))))
	cfg.Telemetry.HTTPAddr, cfg.Telemetry.LogLevel = "127.0.0.1:0", slog.LevelError+4
	cfg.Ingress.Addr = in.freeAddress()
	cfg.API.Rate, cfg.API.Burst = 10_000, 10_000
	cfg.Budget.Instances = 2
	cfg.Keeper.Confirm = time.Second
	cfg.Audit.Bound, cfg.Audit.Every, cfg.Audit.Rate = auditBound, 2*time.Second, 2000
	cfg.Spot.Share, cfg.Spot.Settle = 1, 100*time.Millisecond
	cfg.Shadow.Settle = settle
	return cfg
}

func (in *installation) freeAddress() string {
	ports, err := stack.FreePorts(1)
	in.must(err)
	return stack.Loopback(ports[0])
}

func (in *installation) connect() {
	var err error
	in.db, err = mongostore.Open(mongostore.Options{
		URI: in.cfg.MongoDB.URI.Reveal(), Database: in.cfg.MongoDB.Database, Keys: in.cfg.Seal.Keys.Ring(),
	})
	in.must(err)
	in.Cleanup(func() { _ = in.db.Close(context.WithoutCancel(in.Context())) })
	in.admin, err = pulsarbus.NewAdmin(pulsarbus.AdminOptions{URL: in.cfg.Pulsar.AdminURL})
	in.must(err)
	in.Cleanup(in.admin.Close)
	in.must(in.admin.EnsureTopic(in.Context(), in.cfg.Pulsar.Topic, 0))
	client, err := pulsar.NewClient(pulsar.ClientOptions{
		URL: in.cfg.Pulsar.URL, Logger: pulsarlog.NewLoggerWithSlog(slog.New(slog.DiscardHandler)),
	})
	in.must(err)
	in.Cleanup(client.Close)
	in.producer, err = refresh.New(client, refresh.Options{Topic: in.cfg.Pulsar.Topic})
	in.must(err)
	in.Cleanup(in.producer.Close)
}

// start runs all roles until the test ends.
func (in *installation) start() {
	for _, name := range []string{"refresher-1", "refresher-2"} {
		cfg := in.cfg
		cfg.Refresher.Instance = name
		in.run(name, func(ctx context.Context) error { return service.RunRefresher(ctx, cfg, "test") })
	}
	in.run("keeper", func(ctx context.Context) error { return service.RunKeeper(ctx, in.cfg, "test") })
	in.run("ingress", func(ctx context.Context) error { return service.RunIngress(ctx, in.cfg, "test") })
}

func (in *installation) run(name string, role func(context.Context) error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(in.Context()))
	ended := make(chan error, 1)
	go func() { ended <- role(ctx) }()
	in.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			in.Errorf("%s: %v", name, err)
		}
	})
}

// publish tells Rollcall that a code's facts have changed.
func (in *installation) publish(ctx context.Context, code, why string) error {
	return in.producer.Publish(ctx, refresh.Event{Tenant: tenant, Code: code, Reason: why, OccurredAt: time.Now()})
}

// acked reports that no event is left at the broker.
func (in *installation) acked() bool {
	stats, err := in.admin.Stats(in.Context(), in.cfg.Pulsar.Topic, in.cfg.Pulsar.Subscription)
	return err == nil && stats.Backlog == 0
}

func (in *installation) nothingDirty() bool {
	entries, err := in.db.Dirty().List(in.Context(), push.Ref{}, 1)
	in.must(err)
	return len(entries) == 0
}

func (in *installation) must(err error) {
	in.Helper()
	if err != nil {
		in.Fatal(err)
	}
}
