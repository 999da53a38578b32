//go:build integration

package e2e_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	pulsarlog "github.com/apache/pulsar-client-go/pulsar/log"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// house is one installation: a topic, a database, a key prefix and a WeCom of
// its own.
type house struct {
	*testing.T
	cfg      config.Config
	sim      *wecomsim.Sim
	db       *mongostore.Database
	client   pulsar.Client
	producer *refresh.Producer
	admin    *pulsarbus.Admin
}

func newHouse(t *testing.T, sim wecomsim.Options) *house {
	t.Helper()
	h := &house{T: t, sim: wecomsim.New(sim)}
	t.Cleanup(h.sim.Close)
	server := httptest.NewServer(h.sim.Handler())
	t.Cleanup(server.Close)
	h.cfg = configure(t, server.URL)
	var err error
	if h.db, err = mongostore.Open(mongostore.Options{
		URI: h.cfg.MongoDB.URI.Reveal(), Database: h.cfg.MongoDB.Database, Keys: h.cfg.Seal.Keys.Ring(),
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.db.Close(context.WithoutCancel(t.Context())) })
	if h.admin, err = pulsarbus.NewAdmin(pulsarbus.AdminOptions{URL: h.cfg.Pulsar.AdminURL}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.admin.Close)
	if err := h.admin.EnsureTopic(t.Context(), h.cfg.Pulsar.Topic, 0); err != nil {
		t.Fatal(err)
	}
	quiet := pulsarlog.NewLoggerWithSlog(slog.New(slog.DiscardHandler))
	if h.client, err = pulsar.NewClient(pulsar.ClientOptions{URL: h.cfg.Pulsar.URL, Logger: quiet}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.client.Close)
	if h.producer, err = refresh.New(h.client, refresh.Options{Topic: h.cfg.Pulsar.Topic}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.producer.Close)
	return h
}

// sealKeys are those of every house of this run.
var sealKeys = seal.Generate("test")

// configure reads the defaults and points them at this test's own places.
func configure(t *testing.T, wecomURL string) config.Config {
	t.Helper()
	cfg, err := config.Load()
	if err != nil {
		t.Fatal(err)
	}
	name := "e2e-" + rand.Text()[:10]
	cfg.Pulsar.URL = stacktest.PulsarURL(t)
	cfg.Pulsar.AdminURL = stacktest.PulsarAdminURL(t)
	cfg.Pulsar.Topic = "persistent://public/default/" + name
	cfg.Pulsar.DeadLetterTopic = "persistent://public/default/" + name + "-dead"
	cfg.MongoDB.URI = config.NewSecretURL(stacktest.MongoURI(t))
	cfg.MongoDB.Database = name
	cfg.Redis.URL = config.NewSecretURL(stacktest.RedisURL(t))
	cfg.Redis.KeyPrefix = name + ":"
	cfg.WeCom.BaseURL = wecomURL
	cfg.Keeper.Confirm = time.Second
	if err := cfg.Seal.Keys.UnmarshalText([]byte(sealKeys)); err != nil {
		t.Fatal(err)
	}
	cfg.Telemetry.HTTPAddr = "127.0.0.1:0"
	cfg.Telemetry.LogLevel = slog.LevelError + 4
	cfg.Budget.Instances = 2
	return cfg
}

// refresher runs one more instance until the test ends.
func (h *house) refresher(name string) {
	h.Helper()
	cfg := h.cfg
	cfg.Refresher.Instance = name
	h.run(name, func(ctx context.Context) error { return service.RunRefresher(ctx, cfg, "test") })
}

func (h *house) run(name string, role func(context.Context) error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(h.Context()))
	ended := make(chan error, 1)
	go func() { ended <- role(ctx) }()
	h.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			h.Errorf("%s: %v", name, err)
		}
	})
}

// tenant stores a tenant with a corp at WeCom and staff that are online.
func (h *house) tenant(id string, staff ...string) {
	h.Helper()
	secret := rand.Text()
	if err := h.sim.SetCorp(wecomsim.Corp{ID: "corp-" + id, OpenRoster: true, Apps: []wecomsim.App{{Secret: secret}}}); err != nil {
		h.Fatal(err)
	}
	h.must(h.db.Facts().PutTenant(h.Context(), roster.Tenant{ID: id}))
	h.must(h.db.Facts().PutCredentials(h.Context(), id, "corp-"+id, secret))
	for _, s := range staff {
		h.must(h.db.Facts().PutStaff(h.Context(), id, roster.Staff{ID: s, Presence: roster.Online}))
	}
}

// code stores a code and its contact way.
func (h *house) code(c roster.Code, members ...string) {
	h.Helper()
	for _, m := range members {
		c.Members = append(c.Members, roster.Member{Staff: m})
	}
	c.ConfigID = "cfg-" + c.ID
	if c.Family == "" {
		c.Family = roster.Native
	}
	c.Revision, c.CreatedAt, c.UpdatedAt = 1, time.Now(), time.Now()
	h.must(h.db.Facts().PutCodes(h.Context(), c))
	h.sim.AddWay("corp-"+c.Tenant, wecomsim.Way{ConfigID: c.ConfigID, Type: wecomsim.MultiUser, Users: []string{"nobody"}})
}

func (h *house) publish(tenant, code string) {
	h.Helper()
	h.must(h.producer.Publish(h.Context(), refresh.Event{Tenant: tenant, Code: code, Reason: "test", OccurredAt: time.Now()}))
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *house) listed(tenant, code string) []string {
	way, _ := h.sim.Way("corp-"+tenant, "cfg-"+code)
	return slices.Sorted(slices.Values(way.Users))
}

func (h *house) dirty(tenant, code string) (mongostore.DirtyEntry, bool) {
	h.Helper()
	entry, ok, err := h.db.Dirty().Get(h.Context(), push.Ref{Tenant: tenant, Code: code})
	h.must(err)
	return entry, ok
}

func (h *house) backlog() int64 {
	s, err := h.admin.Stats(h.Context(), h.cfg.Pulsar.Topic, h.cfg.Pulsar.Subscription)
	if err != nil {
		return -1 // no subscription yet
	}
	return s.Backlog
}

// eventually polls until ok or fails after the limit.
func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	await.Until(t, limit, 10*time.Millisecond, what, ok)
}
