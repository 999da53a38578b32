//go:build integration

package operator_test

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
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// operatorHouse is one installation with a database, a key prefix and a WeCom of
// its own, which neither limits calls nor takes its time.
type operatorHouse struct {
	*testing.T
	cfg    config.Config
	sim    *wecomsim.Sim
	db     *mongostore.Database
	client pulsar.Client
	admin  *pulsarbus.Admin
}

func newOperatorHouse(t *testing.T) *operatorHouse {
	t.Helper()
	h := &operatorHouse{T: t, sim: wecomsim.New(wecomsim.Options{Limits: &limits.Config{}, Keep: 1000})}
	t.Cleanup(h.sim.Close)
	server := httptest.NewServer(h.sim.Handler())
	t.Cleanup(server.Close)
	h.cfg = operatorConfig(t, server.URL)
	var err error
	h.db, err = mongostore.Open(mongostore.Options{
		URI: h.cfg.MongoDB.URI.Reveal(), Database: h.cfg.MongoDB.Database, Keys: h.cfg.Seal.Keys.Ring(),
	})
	h.must(err)
	t.Cleanup(func() { _ = h.db.Close(context.WithoutCancel(t.Context())) })
	h.must(h.db.EnsureIndexes(t.Context()))
	h.admin, err = pulsarbus.NewAdmin(pulsarbus.AdminOptions{URL: h.cfg.Pulsar.AdminURL})
	h.must(err)
	t.Cleanup(h.admin.Close)
	h.client, err = pulsar.NewClient(pulsar.ClientOptions{URL: h.cfg.Pulsar.URL, Logger: pulsarlog.NewLoggerWithSlog(slog.New(slog.DiscardHandler))})
	h.must(err)
	t.Cleanup(h.client.Close)
	return h
}

// operatorConfig reads the defaults and points them at this test's own places.
func operatorConfig(t *testing.T, wecomURL string) config.Config {
	t.Helper()
	cfg, err := config.Load()
	if err != nil {
		t.Fatal(err)
	}
	name := "operator-" + rand.Text()[:10]
	cfg.Pulsar.URL = stacktest.PulsarURL(t)
	cfg.Pulsar.AdminURL = stacktest.PulsarAdminURL(t)
	cfg.MongoDB.URI = config.NewSecretURL(stacktest.MongoURI(t))
	cfg.MongoDB.Database = name
	cfg.Redis.URL = config.NewSecretURL(stacktest.RedisURL(t))
	cfg.Redis.KeyPrefix = name + ":"
	cfg.WeCom.BaseURL = wecomURL
	if err := cfg.Seal.Keys.UnmarshalText([]byte(seal.Generate("test"))); err != nil {
		t.Fatal(err)
	}
	cfg.Telemetry.HTTPAddr = "127.0.0.1:0"
	cfg.Telemetry.LogLevel = slog.LevelError + 4
	cfg.Budget.TenantPerMinute, cfg.Budget.TenantPerHour, cfg.Budget.TenantBurst = 1_000_000, 60_000_000, 900_000
	cfg.Budget.IPPerMinute, cfg.Budget.IPPerHour, cfg.Budget.IPBurst = 2_000_000, 120_000_000, 1_800_000
	return cfg
}

// tenant stores a tenant with a corp at WeCom and staff that are online.
func (h *operatorHouse) tenant(id string, staff ...string) {
	h.Helper()
	secret := rand.Text()
	h.must(h.sim.SetCorp(wecomsim.Corp{ID: "corp-" + id, OpenRoster: true, Apps: []wecomsim.App{{Secret: secret}}}))
	h.must(h.db.Facts().PutTenant(h.Context(), roster.Tenant{ID: id}))
	h.must(h.db.Facts().PutCredentials(h.Context(), id, "corp-"+id, secret))
	for _, s := range staff {
		h.must(h.db.Facts().PutStaff(h.Context(), id, roster.Staff{ID: s, Presence: roster.Online}))
	}
}

// codes stores codes of the same members, and their contact ways.
func (h *operatorHouse) codes(codes []roster.Code, members ...string) {
	h.Helper()
	for i := range codes {
		c := &codes[i]
		for _, m := range members {
			c.Members = append(c.Members, roster.Member{Staff: m})
		}
		c.ConfigID, c.Family, c.Revision, c.CreatedAt, c.UpdatedAt = "cfg-"+c.ID, roster.Native, 1, time.Now(), time.Now()
		h.sim.AddWay("corp-"+c.Tenant, wecomsim.Way{ConfigID: c.ConfigID, Type: wecomsim.MultiUser, Users: []string{"nobody"}})
	}
	h.must(h.db.Facts().PutCodes(h.Context(), codes...))
}

// operatorTopic is a topic of refresh events.
type operatorTopic struct {
	*operatorHouse
	name     string
	producer *refresh.Producer
}

func (h *operatorHouse) topic(name string) *operatorTopic {
	h.Helper()
	t := &operatorTopic{operatorHouse: h, name: "persistent://public/default/" + h.cfg.MongoDB.Database + "-" + name}
	h.must(h.admin.EnsureTopic(h.Context(), t.name, 0))
	var err error
	t.producer, err = refresh.New(h.client, refresh.Options{Topic: t.name})
	h.must(err)
	h.Cleanup(t.producer.Close)
	return t
}

func (t *operatorTopic) publish(tenant, code string) {
	t.Helper()
	t.must(t.producer.Publish(t.Context(), refresh.Event{Tenant: tenant, Code: code, Reason: "test", OccurredAt: time.Now()}))
}

func (t *operatorTopic) backlog() int64 {
	s, err := t.admin.Stats(t.Context(), t.name, t.cfg.Pulsar.Subscription)
	if err != nil {
		return -1 // no subscription yet
	}
	return s.Backlog
}

// refresher runs an instance on a topic until the test ends.
func (h *operatorHouse) refresher(topic *operatorTopic, name string, seams ...service.Seams) {
	h.Helper()
	cfg := h.cfg
	cfg.Refresher.Instance = name
	cfg.Pulsar.Topic, cfg.Pulsar.DeadLetterTopic = topic.name, topic.name+"-dead"
	ctx, stop := context.WithCancel(context.WithoutCancel(h.Context()))
	ended := make(chan error, 1)
	go func() { ended <- service.RunRefresher(ctx, cfg, "test", seams...) }()
	h.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			h.Errorf("%s: %v", name, err)
		}
	})
}

func (h *operatorHouse) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}
