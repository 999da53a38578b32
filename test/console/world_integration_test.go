//go:build integration

package console_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	pulsarlog "github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisboard"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/trail"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// evil is a name that a page must show as it is written.
const evil = `<img src=x onerror="document.title='owned'">`

// world is a small installation with all its roles.
type world struct {
	*testing.T
	cfg      config.Config
	sim      *wecomsim.Sim
	db       *mongostore.Database
	admin    *pulsarbus.Admin
	client   pulsar.Client
	producer *refresh.Producer
	url      string            // of the ingress
	tokens   map[string]string // by what they are for
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, sim: wecomsim.New(wecomsim.Options{}), tokens: map[string]string{}}
	t.Cleanup(w.sim.Close)
	server := httptest.NewServer(w.sim.Handler())
	t.Cleanup(server.Close)
	w.configure(server.URL)
	w.connect()
	w.seed()
	w.past()
	w.start()
	w.live()
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) configure(wecom string) {
	cfg, err := config.Load()
	w.must(err)
	name := "console-" + rand.Text()[:10]
	cfg.Pulsar.URL, cfg.Pulsar.AdminURL = stacktest.PulsarURL(w.T), stacktest.PulsarAdminURL(w.T)
	cfg.Pulsar.Topic = "persistent://public/default/" + name
	cfg.Pulsar.DeadLetterTopic = cfg.Pulsar.Topic + "-dead"
	cfg.MongoDB.URI, cfg.MongoDB.Database = config.NewSecretURL(stacktest.MongoURI(w.T)), name
	cfg.Redis.URL, cfg.Redis.KeyPrefix = config.NewSecretURL(stacktest.RedisURL(w.T)), name+":"
	cfg.WeCom.BaseURL = wecom
	w.must(cfg.Seal.Keys.UnmarshalText([]byte(seal.Generate("test"))))
	w.must(cfg.Console.Keys.UnmarshalText([]byte(seal.Generate("console"))))
	cfg.Telemetry.HTTPAddr, cfg.Telemetry.LogLevel = "127.0.0.1:0", slog.LevelError+4
	cfg.API.TokenFresh = time.Second
	listener, err := new(net.ListenConfig).Listen(w.Context(), "tcp", "127.0.0.1:0")
	w.must(err)
	cfg.Ingress.Addr = listener.Addr().String()
	w.must(listener.Close())
	w.cfg, w.url = cfg, "http://"+cfg.Ingress.Addr
}

func (w *world) connect() {
	var err error
	w.db, err = mongostore.Open(mongostore.Options{URI: w.cfg.MongoDB.URI.Reveal(), Database: w.cfg.MongoDB.Database, Keys: w.cfg.Seal.Keys.Ring()})
	w.must(err)
	w.Cleanup(func() { _ = w.db.Close(context.WithoutCancel(w.Context())) })
	w.admin, err = pulsarbus.NewAdmin(pulsarbus.AdminOptions{URL: w.cfg.Pulsar.AdminURL})
	w.must(err)
	w.Cleanup(w.admin.Close)
	w.must(w.admin.EnsureTopic(w.Context(), w.cfg.Pulsar.Topic, 0))
	quiet := pulsarlog.NewLoggerWithSlog(slog.New(slog.DiscardHandler))
	w.client, err = pulsar.NewClient(pulsar.ClientOptions{URL: w.cfg.Pulsar.URL, Logger: quiet})
	w.must(err)
	w.Cleanup(w.client.Close)
	w.producer, err = refresh.New(w.client, refresh.Options{Topic: w.cfg.Pulsar.Topic})
	w.must(err)
	w.Cleanup(w.producer.Close)
}

// seed stores two tenants, their people, codes and tokens.
func (w *world) seed() {
	ctx := w.Context()
	for tenant, staff := range map[string][]string{"acme": {"li.na", "wang.wei", "zhang.min", evil}, "globex": {"amy"}} {
		secret := rand.Text()
		w.must(w.sim.SetCorp(wecomsim.Corp{ID: "corp-" + tenant, OpenRoster: true, Apps: []wecomsim.App{{Secret: secret}}}))
		w.must(w.db.Facts().PutTenant(ctx, roster.Tenant{ID: tenant, DailyTotal: 50, Fallback: staff[:1]}))
		w.must(w.db.Facts().PutCredentials(ctx, tenant, "corp-"+tenant, secret))
		for _, one := range staff {
			w.must(w.db.Facts().PutStaff(ctx, tenant, roster.Staff{ID: one, Presence: roster.Online}))
		}
	}
	w.code("acme", "spring-fair", "li.na", "wang.wei", "zhang.min", evil)
	w.code("acme", "autumn-fair", "li.na", "wang.wei")
	w.code("globex", "lobby", "amy")
	for name, order := range map[string]access.Order{
		"reader": {Scopes: []access.Scope{access.Read}}, "chief": {Scopes: []access.Scope{access.Read, access.Write, access.Admin}},
	} {
		secret, _, err := service.CreateToken(ctx, w.cfg, order)
		w.must(err)
		w.tokens[name] = secret
	}
}

// past is what a real installation has after a while: more codes, dirty ones among
// them, an hour of calls, a trail.
func (w *world) past() {
	ctx, now := w.Context(), time.Now()
	for n := range 60 {
		w.code("acme", fmt.Sprintf("shop-%02d", n), "li.na", "zhang.min")
	}
	for n, why := range []reason.Reason{reason.BadMember, reason.Transient, reason.Gone, reason.Blocked, reason.Blocked, reason.Blocked} {
		w.must(w.db.Dirty().Mark(ctx, push.Mark{
			Ref: push.Ref{Tenant: "acme", Code: fmt.Sprintf("shop-%02d", n)}, Reason: why, Detail: "errcode", Due: now.Add(time.Hour),
		}))
	}
	ref := push.Ref{Tenant: "acme", Code: "spring-fair"}
	w.must(w.db.Trails().Append(ctx, []trail.Noted{
		{Ref: ref, Entry: trail.Entry{At: now.Add(-9 * time.Minute), Kind: trail.Waits, Cause: reason.Throttled, Until: now.Add(-7 * time.Minute)}},
		{Ref: ref, Entry: trail.Entry{At: now.Add(-4 * time.Minute), Kind: trail.Waits, Cause: reason.Backoff, Until: now.Add(-2 * time.Minute)}},
	}))
	reports, err := redisboard.New(w.redis(), redisboard.Options{Prefix: w.cfg.Redis.KeyPrefix})
	w.must(err)
	var calls []board.TenantMinute
	for n := range 58 {
		at := now.Add(time.Duration(n-59) * time.Minute).Truncate(time.Minute)
		granted := 4000 + int(3500*math.Sin(float64(n)/9)) + 37*(n*n%23)
		calls = append(calls,
			board.TenantMinute{Tenant: "acme", Minute: board.Minute{At: at, Granted: granted, Refused: max(0, granted-7400)}},
			board.TenantMinute{Tenant: "globex", Minute: board.Minute{At: at, Granted: granted / 9}})
	}
	report := board.Report{Instance: "past", Role: board.Keeper, At: now}
	w.must(reports.Put(ctx, report, calls))
	w.must(reports.Remove(ctx, report))
}

func (w *world) redis() redis.UniversalClient {
	opts, err := redis.ParseURL(w.cfg.Redis.URL.Reveal())
	w.must(err)
	client := redis.NewClient(opts)
	w.Cleanup(func() { _ = client.Close() })
	return client
}

func (w *world) code(tenant, id string, members ...string) {
	c := roster.Code{
		ID: id, Tenant: tenant, ConfigID: "way-" + id, Family: roster.Native, Remark: "<b>" + id + "</b>", Revision: 1,
		Switches: roster.Switches{OfflineCheck: true}, CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}
	for _, m := range members {
		c.Members = append(c.Members, roster.Member{Staff: m})
	}
	w.must(w.db.Facts().PutCodes(w.Context(), c))
	w.sim.AddWay("corp-"+tenant, wecomsim.Way{ConfigID: c.ConfigID, Type: wecomsim.MultiUser, Users: []string{"nobody"}})
}

// start runs all roles until the test ends.
func (w *world) start() {
	for name, role := range map[string]func(context.Context, config.Config, string, ...service.Seams) error{
		"refresher-0": service.RunRefresher, "keeper-0": service.RunKeeper, "ingress-0": service.RunIngress,
	} {
		cfg := w.cfg
		cfg.Refresher.Instance = name
		ctx, stop := context.WithCancel(context.WithoutCancel(w.Context()))
		ended := make(chan error, 1)
		go func() { ended <- role(ctx, cfg, "1.4.0") }()
		w.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				w.Errorf("%s: %v", name, err)
			}
		})
	}
}

func (w *world) publish(tenant, code string) {
	w.must(w.producer.Publish(w.Context(), refresh.Event{Tenant: tenant, Code: code, Reason: "test", OccurredAt: time.Now()}))
}

func (w *world) until(what string, ok func() bool) {
	w.Helper()
	await.Until(w.T, 60*time.Second, 20*time.Millisecond, what, ok)
}

func (w *world) listed(code string) []string {
	way, _ := w.sim.Way("corp-acme", "way-"+code)
	return slices.Sorted(slices.Values(way.Users))
}

// live lets some things happen: lists are pushed, somebody goes off line, WeCom
// blocks a tenant, a code becomes dirty, a message is buried.
func (w *world) live() {
	for _, code := range []string{"spring-fair", "autumn-fair"} {
		w.publish("acme", code)
		w.until("the first list of "+code, func() bool { return slices.Contains(w.listed(code), "wang.wei") })
	}
	w.must(w.db.Facts().SetPresence(w.Context(), "acme", "wang.wei", roster.OfflineNow))
	w.publish("acme", "spring-fair")
	w.until("he is off the list", func() bool { return !slices.Contains(w.listed("spring-fair"), "wang.wei") })
	ref := push.Ref{Tenant: "acme", Code: "spring-fair"}
	w.until("the trail has both pushes", func() bool {
		entries, err := w.db.Trails().Of(w.Context(), ref)
		return err == nil && len(slices.DeleteFunc(entries, func(e trail.Entry) bool { return e.Kind != trail.Pushed })) == 2
	})
	w.must(w.db.Trails().Append(w.Context(), []trail.Noted{
		{Ref: ref, Entry: trail.Entry{At: time.Now(), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: evil, Count: 6, Limit: 5}},
	}))
	w.block("globex")
	w.must(w.db.Dirty().Mark(w.Context(), push.Mark{
		Ref: push.Ref{Tenant: "globex", Code: "lobby"}, Reason: reason.Blocked, Detail: "45009 <i>api freq</i>", Due: time.Now().Add(time.Hour),
	}))
	w.bury([]byte(`{"v":1,"tenant":"acme","note":"<script>alert(1)</script>"}`))
}

func (w *world) block(tenant string) {
	budget, err := redisbudget.New(w.redis(), redisbudget.Options{Prefix: w.cfg.Redis.KeyPrefix})
	w.must(err)
	_, err = budget.Throttled(w.Context(), tenant, redisbudget.ErrCodeFrequency)
	w.must(err)
}

func (w *world) bury(payload []byte) {
	p, err := w.client.CreateProducer(pulsar.ProducerOptions{Topic: w.cfg.Pulsar.Topic, DisableBatching: true})
	w.must(err)
	defer p.Close()
	_, err = p.Send(w.Context(), &pulsar.ProducerMessage{Key: "spring-fair", Payload: payload})
	w.must(err)
	w.until("the message is buried", func() bool {
		for _, err := range service.ListDeadLetters(w.Context(), w.cfg, 1) {
			return err == nil
		}
		return false
	})
}
