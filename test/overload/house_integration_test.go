//go:build integration

package overload_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"log/slog"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/fleet"
	"github.com/rollcall-dev/rollcall/test/stack"
	"github.com/rollcall-dev/rollcall/test/standin"
)

const (
	updateAPI    = "update_contact_way"
	subscription = "rollcall"
	refreshers   = 3
)

// house is one installation on the real servers: a topic, a database, a key
// prefix and a WeCom of its own, and its roles as processes.
type house struct {
	*testing.T
	name     string
	topic    string
	servers  stack.Addresses
	windows  windows
	sealKeys string
	sim      *wecomsim.Sim
	db       *mongostore.Database
	redis    *redis.Client
	rotation *redisrotation.Rotation
	producer *refresh.Producer
	admin    *pulsarbus.Admin
	fleet    *fleet.Fleet
	busy     machine
}

// newHouse opens everything but the processes. onCall sees every call at WeCom.
func newHouse(t *testing.T, servers stack.Addresses, w windows, onCall func(wecomsim.Call)) *house {
	t.Helper()
	h := &house{T: t, name: "overload-" + rand.Text()[:10], servers: servers, windows: w}
	h.topic = "persistent://public/default/" + h.name
	h.openVendor(onCall)
	h.openServers()
	return h
}

func (h *house) openVendor(onCall func(wecomsim.Call)) {
	w := h.windows
	h.sim = wecomsim.New(wecomsim.Options{
		Latency: wecomsim.Latency{P50: 25 * time.Millisecond, P99: 120 * time.Millisecond},
		Limits: &limits.Config{Corp: []limits.Window{
			{Calls: w.perMinute, Length: w.minute, Block: w.minute},
			{Calls: w.perHour, Length: w.hour, Block: w.hour},
		}},
		OnCall: onCall,
	})
	h.Cleanup(h.sim.Close)
}

func (h *house) openServers() {
	h.Helper()
	var err error
	h.sealKeys = seal.Generate("test")
	keys, err := seal.ParseKeys(h.sealKeys)
	h.must(err)
	h.db, err = mongostore.Open(mongostore.Options{URI: h.servers.MongoURI, Database: h.name, Keys: keys})
	h.must(err)
	h.Cleanup(func() { _ = h.db.Close(context.WithoutCancel(h.Context())) })
	standin.IndexConditions(h.T, h.servers.MongoURI, h.name, map[string]string{"records": "epoch", "dirty": "version"})
	opts, err := redis.ParseURL(h.servers.RedisURL)
	h.must(err)
	h.redis = redis.NewClient(opts)
	h.Cleanup(func() { _ = h.redis.Close() })
	h.rotation, err = redisrotation.New(h.redis, redisrotation.Options{Prefix: h.prefix()})
	h.must(err)
	h.admin, err = pulsarbus.NewAdmin(pulsarbus.AdminOptions{URL: h.servers.PulsarAdminURL})
	h.must(err)
	h.Cleanup(h.admin.Close)
	h.must(h.admin.EnsureTopic(h.Context(), h.topic, 0))
	h.producer, err = refresh.Dial(h.servers.PulsarURL, refresh.Options{Topic: h.topic, Logger: slog.New(slog.DiscardHandler)})
	h.must(err)
	h.Cleanup(h.producer.Close)
}

func (h *house) prefix() string { return h.name + ":" }

// launch starts the refreshers and a keeper.
func (h *house) launch(more ...string) {
	h.Helper()
	server := httptest.NewServer(h.sim.Handler())
	h.Cleanup(server.Close)
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	env := slices.Concat(h.servers.Env(), h.windows.env(refreshers), []string{
		"ROLLCALL_MONGODB_DATABASE=" + h.name,
		"ROLLCALL_REDIS_KEY_PREFIX=" + h.prefix(),
		"ROLLCALL_PULSAR_TOPIC=" + h.topic,
		"ROLLCALL_PULSAR_SUBSCRIPTION=" + subscription,
		"ROLLCALL_PULSAR_DEAD_LETTER_TOPIC=" + h.topic + "-dead",
		"ROLLCALL_WECOM_BASE_URL=" + server.URL,
		"ROLLCALL_SEAL_KEYS=" + h.sealKeys,
		"ROLLCALL_WECOM_TOKEN_KEY=" + base64.StdEncoding.EncodeToString(key[:]),
	}, more)
	h.fleet = fleet.New(h.build(), env, h.TempDir())
	h.Cleanup(h.stop)
	for range refreshers {
		_, err := h.fleet.Start(h.Context(), "refresher")
		h.must(err)
	}
	_, err := h.fleet.Start(h.Context(), "keeper")
	h.must(err)
}

func (h *house) stop() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.Context()), 30*time.Second)
	defer cancel()
	if err := h.fleet.Stop(ctx); err != nil {
		h.Error(err)
	}
}

// build compiles the program once a test.
func (h *house) build() string {
	h.Helper()
	binary := filepath.Join(h.TempDir(), "rollcall")
	cmd := exec.CommandContext(h.Context(), "go", "build", "-o", binary, "../../cmd/rollcall")
	if out, err := cmd.CombinedOutput(); err != nil {
		h.Fatalf("build rollcall: %v\n%s", err, out)
	}
	return binary
}

// tenant stores a tenant with its corp at WeCom.
func (h *house) tenant(id string, staff ...roster.Staff) {
	h.Helper()
	secret := rand.Text()
	h.must(h.sim.SetCorp(wecomsim.Corp{ID: corp(id), OpenRoster: true, Apps: []wecomsim.App{{Secret: secret}}}))
	h.must(h.db.Facts().PutTenant(h.Context(), roster.Tenant{ID: id}))
	h.must(h.db.Facts().PutCredentials(h.Context(), id, corp(id), secret))
	h.must(h.db.Facts().PutStaff(h.Context(), id, staff...))
}

// codes stores codes of one tenant and their contact ways, which list nobody
// that the facts would.
func (h *house) codes(codes ...roster.Code) {
	h.Helper()
	now := time.Now()
	for i := range codes {
		c := &codes[i]
		c.ConfigID, c.Revision, c.CreatedAt, c.UpdatedAt = configOf(c.ID), 1, now, now
		if c.Family == "" {
			c.Family = roster.Native
		}
		h.sim.AddWay(corp(c.Tenant), wecomsim.Way{ConfigID: c.ConfigID, Type: wecomsim.MultiUser, Users: []string{"nobody"}})
	}
	h.must(h.db.Facts().PutCodes(h.Context(), codes...))
}

func corp(tenant string) string   { return "corp-" + tenant }
func configOf(code string) string { return "cfg-" + code }

func members(staff ...string) []roster.Member {
	out := make([]roster.Member, 0, len(staff))
	for _, s := range staff {
		out = append(out, roster.Member{Staff: s})
	}
	return out
}

func event(ref push.Ref) refresh.Event {
	return refresh.Event{Tenant: ref.Tenant, Code: ref.Code, Reason: "overload", OccurredAt: time.Now()}
}

func (h *house) listed(ref push.Ref) []string {
	way, _ := h.sim.Way(corp(ref.Tenant), configOf(ref.Code))
	return slices.Sorted(slices.Values(way.Users))
}

// dirty counts the dirty codes, up to limit.
func (h *house) dirty(limit int) int {
	entries, err := h.db.Dirty().List(h.Context(), push.Ref{}, limit)
	h.must(err)
	return len(entries)
}

func (h *house) backlog() int64 {
	s, err := h.admin.Stats(h.Context(), h.topic, subscription)
	if err != nil {
		return -1 // no subscription yet
	}
	return s.Backlog
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// eventually asks every so often until the answer is yes; no at the limit ends
// the test.
func (h *house) eventually(limit, every time.Duration, what string, ok func() bool) {
	h.Helper()
	await.Until(h, limit, every, what, ok)
}

// pause waits while the others work.
func (h *house) pause(d time.Duration) {
	h.Helper()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-h.Context().Done():
		h.Fatal(h.Context().Err())
	case <-t.C:
	}
}
