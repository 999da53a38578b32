//go:build integration

package faults

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	pulsarlog "github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/fleet"
	"github.com/rollcall-dev/rollcall/test/history"
)

// limit is within which every code has to agree with its facts after a fault's
// end: the longest hold and as much again.
const limit = 15*time.Second + 15*time.Second

// house is one installation: a topic, a database, a key prefix and a WeCom of
// its own. Its own connections go past every proxy.
type house struct {
	*testing.T
	name     string
	topic    string
	env      []string // of its processes
	logs     string
	sim      *wecomsim.Sim
	simURL   string
	sealKeys string
	db       *mongostore.Database
	redis    *redis.Client
	rotation *redisrotation.Rotation
	client   pulsar.Client
	producer *refresh.Producer
	admin    *pulsarbus.Admin
	codes    []*code
	byConfig map[string]*code
	before   history.Judgement // of the first lists
}

// pace is what WeCom allows a house's tenant, in windows short enough for a
// test to meet them.
type pace struct {
	burst, perShort, perLong int
}

const (
	shortWindow = 6 * time.Second
	longWindow  = time.Minute
)

// plain is a pace that nobody meets.
var plain = pace{burst: 500, perShort: 6000, perLong: 20000}

// newHouse has so many codes of each of the two families.
func newHouse(t *testing.T, codes int, p pace) *house {
	t.Helper()
	name := "faults-" + rand.Text()[:10]
	h := &house{T: t, name: name, topic: "persistent://public/default/" + name, byConfig: map[string]*code{}}
	h.logs = filepath.Join(ground.logs, strings.NewReplacer("/", "_", " ", "_", ":", "").Replace(t.Name()))
	h.must(os.MkdirAll(h.logs, 0o700))
	h.openVendor(p)
	h.openStores()
	h.openBroker()
	h.env = append(ground.Env(), h.settings(p)...)
	h.seed(codes)
	return h
}

func (h *house) openVendor(p pace) {
	windows := func(n int) []limits.Window {
		return []limits.Window{
			{Calls: p.perShort * n, Length: shortWindow, Block: shortWindow},
			{Calls: p.perLong * n, Length: longWindow, Block: longWindow},
		}
	}
	h.sim = wecomsim.New(wecomsim.Options{
		Limits:  &limits.Config{Corp: windows(1), IP: windows(20)},
		Latency: wecomsim.Latency{P50: 15 * time.Millisecond, P99: 60 * time.Millisecond},
		OnCall:  h.onCall,
	})
	h.Cleanup(h.sim.Close)
	server := httptest.NewServer(h.sim.Handler())
	h.Cleanup(server.Close)
	h.simURL = server.URL
}

func (h *house) openStores() {
	var err error
	h.sealKeys = seal.Generate("test")
	keys, err := seal.ParseKeys(h.sealKeys)
	h.must(err)
	h.db, err = mongostore.Open(mongostore.Options{URI: ground.MongoURI, Database: h.name, Keys: keys})
	h.must(err)
	h.Cleanup(func() { _ = h.db.Close(context.WithoutCancel(h.Context())) })
	opts, err := redis.ParseURL(ground.RedisURL)
	h.must(err)
	h.redis = redis.NewClient(opts)
	h.Cleanup(func() { _ = h.redis.Close() })
	h.rotation, err = redisrotation.New(h.redis, redisrotation.Options{Prefix: h.name + ":"})
	h.must(err)
}

func (h *house) openBroker() {
	var err error
	h.admin, err = pulsarbus.NewAdmin(pulsarbus.AdminOptions{URL: ground.PulsarAdminURL})
	h.must(err)
	h.Cleanup(h.admin.Close)
	h.must(h.admin.EnsureTopic(h.Context(), h.topic, 0))
	quiet := pulsarlog.NewLoggerWithSlog(slog.New(slog.DiscardHandler))
	h.client, err = pulsar.NewClient(pulsar.ClientOptions{URL: ground.PulsarURL, Logger: quiet})
	h.must(err)
	h.Cleanup(h.client.Close)
	h.producer, err = refresh.New(h.client, refresh.Options{Topic: h.topic})
	h.must(err)
	h.Cleanup(h.producer.Close)
}

// settings are the product's own, all else at its defaults.
func (h *house) settings(p pace) []string {
	return []string{
		envChild + "=1",
		"ROLLCALL_PULSAR_TOPIC=" + h.topic,
		"ROLLCALL_PULSAR_DEAD_LETTER_TOPIC=" + h.topic + "-dead",
		"ROLLCALL_MONGODB_DATABASE=" + h.name,
		"ROLLCALL_REDIS_KEY_PREFIX=" + h.name + ":",
		"ROLLCALL_WECOM_BASE_URL=" + h.simURL,
		"ROLLCALL_SEAL_KEYS=" + h.sealKeys,
		"ROLLCALL_BUDGET_INSTANCES=2",
		"ROLLCALL_BUDGET_MINUTE=" + shortWindow.String(),
		"ROLLCALL_BUDGET_HOUR=" + longWindow.String(),
		"ROLLCALL_KEEPER_CONFIRM=1s",
		fmt.Sprintf("ROLLCALL_BUDGET_TENANT_PER_MINUTE=%d", p.perShort),
		fmt.Sprintf("ROLLCALL_BUDGET_TENANT_PER_HOUR=%d", p.perLong),
		fmt.Sprintf("ROLLCALL_BUDGET_TENANT_BURST=%d", p.burst),
		fmt.Sprintf("ROLLCALL_BUDGET_IP_PER_MINUTE=%d", 20*p.perShort),
		fmt.Sprintf("ROLLCALL_BUDGET_IP_PER_HOUR=%d", 20*p.perLong),
		fmt.Sprintf("ROLLCALL_BUDGET_IP_BURST=%d", 20*p.burst),
	}
}

// tenant is the one company of every house.
const tenant = "acme"

// seed stores the tenant, the codes and their staff, and their contact ways.
func (h *house) seed(n int) {
	h.Helper()
	secret := rand.Text()
	h.must(h.sim.SetCorp(wecomsim.Corp{ID: "corp-" + tenant, OpenRoster: true, Apps: []wecomsim.App{{Secret: secret}}}))
	facts, ctx := h.db.Facts(), h.Context()
	h.must(facts.PutTenant(ctx, roster.Tenant{ID: tenant}))
	h.must(facts.PutCredentials(ctx, tenant, "corp-"+tenant, secret))
	var staff []roster.Staff
	var codes []roster.Code
	for i := range n {
		for _, family := range []roster.Family{roster.Native, roster.Sequenced} {
			c := newCode(fmt.Sprintf("%s-%s-%d", h.name, family, i))
			h.codes, h.byConfig[c.configID()] = append(h.codes, c), c
			stored := roster.Code{
				ID: c.Code, Tenant: tenant, ConfigID: c.configID(), Family: family, Revision: 1,
				CreatedAt: time.Now(), UpdatedAt: time.Now(), Switches: roster.Switches{OfflineCheck: true},
			}
			for j := range staffPerCode {
				stored.Members = append(stored.Members, roster.Member{Staff: c.staff(j)})
				staff = append(staff, roster.Staff{ID: c.staff(j), Presence: roster.Online})
			}
			codes = append(codes, stored)
			h.sim.AddWay("corp-"+tenant, wecomsim.Way{ConfigID: c.configID(), Type: wecomsim.MultiUser, Users: []string{"nobody"}})
		}
	}
	h.must(facts.PutStaff(ctx, tenant, staff...))
	h.must(facts.PutCodes(ctx, codes...))
}

// onCall follows what WeCom holds.
func (h *house) onCall(call wecomsim.Call) {
	if call.API != "update_contact_way" || call.ErrCode != 0 || call.Applied.IsZero() {
		return
	}
	h.byConfig[call.ConfigID].Take(history.Taken{Members: call.Members, Written: call.Version, Received: call.Received, Applied: call.Applied})
}

// process is one refresher or keeper.
type process struct {
	*fleet.Fleet
	*fleet.Member
}

// starts is how often a process is started: its port was free a moment before,
// and may be somebody else's by then.
const starts = 3

// start runs a role and returns when it is ready. It is stopped with the test,
// and has to drain in good order then.
func (h *house) start(ctx context.Context, role, name string, env ...string) (*process, error) {
	dir := filepath.Join(h.logs, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	env = append(append(slices.Clone(h.env), env...), envName+"="+name)
	var failed error
	for range starts {
		p := &process{Fleet: fleet.New(os.Args[0], env, dir)}
		h.Cleanup(func() { h.stop(p) })
		var err error
		if p.Member, err = p.Start(ctx, role); err == nil {
			return p, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// stop asks a process to end and waits for it; again does nothing.
func (h *house) stop(p *process) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.Context()), 30*time.Second)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		h.Error(err)
	}
}

// startAll starts processes side by side: a role and a name each.
func (h *house) startAll(starts ...func() error) {
	h.Helper()
	failed := make([]error, len(starts))
	var wg sync.WaitGroup
	for i, start := range starts {
		wg.Go(func() { failed[i] = start() })
	}
	wg.Wait()
	h.must(errors.Join(failed...))
}

// starting returns a start for startAll.
func (h *house) starting(into **process, role, name string, env ...string) func() error {
	return func() (err error) {
		*into, err = h.start(h.Context(), role, name, env...)
		return err
	}
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// until polls until ok, or reports false when the time is over.
func until(ctx context.Context, d time.Duration, ok func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// pause waits for d or for the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	until(ctx, d, func() bool { return false })
}
