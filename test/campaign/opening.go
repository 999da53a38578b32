package campaign

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
	"github.com/rollcall-dev/rollcall/test/fleet"
)

// open connects the platform's side: store, topic, simulator, callbacks.
func (r *running) open(ctx context.Context) error {
	var err error
	r.sealKeys = seal.Generate(r.name)
	r.tell(r.sealKeys)
	keys, err := seal.ParseKeys(r.sealKeys)
	if err != nil {
		return err
	}
	if r.db, err = mongostore.Open(mongostore.Options{URI: r.opts.Servers.MongoURI, Database: r.name, Keys: keys}); err != nil {
		return err
	}
	opts, err := redis.ParseURL(r.opts.Servers.RedisURL)
	if err != nil {
		return errors.New("the Redis address is not a Redis URL")
	}
	r.redis = redis.NewClient(opts)
	if r.rotation, err = redisrotation.New(r.redis, redisrotation.Options{Prefix: r.name + ":"}); err != nil {
		return err
	}
	if r.admin, err = pulsarbus.NewAdmin(pulsarbus.AdminOptions{URL: r.opts.Servers.PulsarAdminURL}); err != nil {
		return err
	}
	if err := r.admin.EnsureTopic(ctx, r.topic, 0); err != nil {
		return err
	}
	r.plans = plan(r.opts, time.Now())
	r.platform = newPlatform(r.db, r.plans, r.tally, r.opts.Logger)
	return r.openVendor(ctx)
}

// openVendor starts the simulator and the platform's end of its callbacks.
func (r *running) openVendor(ctx context.Context) error {
	b := r.opts.Budget
	windows := func(perMinute, perHour int) []limits.Window {
		return []limits.Window{{Calls: perMinute, Length: b.Minute, Block: b.Minute}, {Calls: perHour, Length: b.Hour, Block: b.Hour}}
	}
	r.sim = wecomsim.New(wecomsim.Options{
		Seed:    r.opts.Seed,
		Limits:  &limits.Config{Corp: windows(b.PerMinute, b.PerHour), IP: windows(b.PerMinute*ipFactor, b.PerHour*ipFactor)},
		Latency: r.opts.Latency,
		OnScan:  r.onScan,
		OnCall:  r.onCall,
		Keep:    1000,
	})
	var err error
	if r.simServer, r.simURL, err = r.serve(ctx, r.sim.Handler()); err != nil {
		return err
	}
	r.callbacks, r.callbackURL, err = r.serve(ctx, r.platform)
	return err
}

// ipFactor is how many tenants' budgets the egress IP has: enough for the
// tenants of a demo never to meet on it.
const ipFactor = 20

func (r *running) serve(ctx context.Context, h http.Handler) (*http.Server, string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", fmt.Errorf("listen: %w", err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	r.serving.Go(func() { _ = s.Serve(l) }) // ends with Close
	return s, "http://" + l.Addr().String(), nil
}

// secrets are what a tenant has agreed on with WeCom.
type secrets struct{ app, token, aesKey string }

func corpOf(tenant string) string { return "corp-" + tenant }

// seed has the simulator know the companies, and Rollcall their facts, which it
// is told through its API.
func (r *running) seed(ctx context.Context) error {
	codes := 0
	for _, p := range r.plans {
		s := secrets{rand.Text(), rand.Text(), randomKey()}
		r.tell(s.app, s.token, s.aesKey)
		if err := r.seedVendor(p, s); err != nil {
			return err
		}
		corp := corpOf(p.tenant.ID)
		err := r.api.putWorld(ctx, p,
			map[string]any{"corp_id": corp, "secret": s.app},
			map[string]any{"token": s.token, "aes_key": s.aesKey, "receive_ids": []string{corp}})
		if err != nil {
			return fmt.Errorf("seed tenant %s: %w", p.tenant.ID, err)
		}
		if err := r.sim.VerifyURL(ctx, corp); err != nil {
			return fmt.Errorf("seed tenant %s: %w", p.tenant.ID, err)
		}
		codes += len(p.codes)
	}
	r.live.say("seeded %d tenants, %d codes through the API", len(r.plans), codes)
	return nil
}

func (r *running) seedVendor(p tenantPlan, s secrets) error {
	corp := wecomsim.Corp{
		ID: corpOf(p.tenant.ID), Apps: []wecomsim.App{{Secret: s.app}}, OpenRoster: true,
		Callback: wecomsim.Callback{URL: r.callbackURL + "/callback/" + p.tenant.ID, Token: s.token, EncodingAESKey: s.aesKey},
	}
	codec, err := wecomcrypto.New(s.token, s.aesKey, corp.ID)
	if err != nil {
		return err
	}
	r.platform.codec[p.tenant.ID] = codec
	if err := r.sim.SetCorp(corp); err != nil {
		return err
	}
	for _, c := range p.codes {
		r.sim.AddWay(corp.ID, wecomsim.Way{ConfigID: c.ConfigID, Type: wecomsim.MultiUser, Users: []string{c.Members[0].Staff}, State: c.State})
	}
	return nil
}

func (r *running) tell(secrets ...string) {
	for _, s := range secrets {
		if r.opts.Secret != nil {
			r.opts.Secret(s)
		}
	}
}

func randomKey() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return base64.RawStdEncoding.EncodeToString(key[:])
}

// ingresses is how many there are at the start.
const ingresses = 2

// launch starts the processes of Rollcall.
func (r *running) launch(ctx context.Context) error {
	r.fleet = fleet.Launching(r.opts.launcher(), r.environment(), r.opts.LogDir)
	for role, n := range map[string]int{"refresher": r.opts.Refreshers, "keeper": r.opts.Keepers, "ingress": ingresses} {
		for range n {
			if _, err := r.fleet.Start(ctx, role); err != nil {
				return err
			}
		}
	}
	if r.opts.Watch != nil {
		r.opts.Watch(r.fleet)
	}
	secret, err := r.mint(ctx, "the platform", access.Read, access.Write, access.Draw, access.Admin)
	if err != nil {
		return err
	}
	r.api = newAPI(secret, r.ingressURLs)
	r.platform.api = r.api
	r.live.say("%d refreshers, %d ingresses, %d keepers are ready", r.opts.Refreshers, ingresses, r.opts.Keepers)
	if !r.opts.Console {
		return nil
	}
	looker, err := r.mint(ctx, "the console", access.Read)
	if err != nil {
		return err
	}
	for _, m := range r.members("ingress") {
		r.live.say("the console: %s/console/ with the token %s", m.URL(), looker)
	}
	return nil
}

// mint makes a token for all tenants.
func (r *running) mint(ctx context.Context, note string, scopes ...access.Scope) (string, error) {
	secret, token, err := access.Mint(access.Order{Scopes: scopes, Note: note}, time.Now())
	if err != nil {
		return "", err
	}
	r.tell(secret)
	return secret, r.db.Tokens().Create(ctx, token)
}

func (r *running) ingressURLs() (urls []string) {
	for _, m := range r.members("ingress") {
		urls = append(urls, m.URL())
	}
	return urls
}

// members are the processes of one role.
func (r *running) members(role string) []*fleet.Member {
	return slices.DeleteFunc(r.fleet.Members(), func(m *fleet.Member) bool { return !strings.HasPrefix(m.Name(), role+"-") })
}

// rest lets every code have its first list.
func (r *running) rest(ctx context.Context) error {
	for tenant, tr := range r.platform.truths {
		r.platform.write(ctx, tenant, "codes_created", func(*truth) []string { return slices.Collect(maps.Keys(tr.codes)) },
			func(context.Context) error { return nil })
	}
	r.settle(ctx, r.opts.Settle)
	r.live.say("every code has its first list")
	r.tally.opened()
	return r.platform.failure()
}

func (r *running) environment() []string {
	b, tokenKey := r.opts.Budget, randomStdKey()
	r.tell(tokenKey)
	env := append(r.opts.Servers.Env(),
		"ROLLCALL_MONGODB_DATABASE="+r.name,
		"ROLLCALL_REDIS_KEY_PREFIX="+r.name+":",
		"ROLLCALL_PULSAR_TOPIC="+r.topic,
		"ROLLCALL_PULSAR_SUBSCRIPTION="+r.subscription,
		"ROLLCALL_PULSAR_DEAD_LETTER_TOPIC="+r.topic+"-dead-letters",
		"ROLLCALL_WECOM_BASE_URL="+r.simURL,
		"ROLLCALL_WECOM_TOKEN_KEY="+tokenKey,
		"ROLLCALL_SEAL_KEYS="+r.sealKeys,
		"ROLLCALL_BUDGET_MINUTE="+b.Minute.String(),
		"ROLLCALL_BUDGET_HOUR="+b.Hour.String(),
		"ROLLCALL_BUDGET_TENANT_PER_MINUTE="+strconv.Itoa(b.PerMinute),
		"ROLLCALL_BUDGET_TENANT_PER_HOUR="+strconv.Itoa(b.PerHour),
		"ROLLCALL_BUDGET_TENANT_BURST="+strconv.Itoa(b.Burst),
		"ROLLCALL_BUDGET_IP_PER_MINUTE="+strconv.Itoa(b.PerMinute*ipFactor),
		"ROLLCALL_BUDGET_IP_PER_HOUR="+strconv.Itoa(b.PerHour*ipFactor),
		"ROLLCALL_BUDGET_IP_BURST="+strconv.Itoa(b.Burst*ipFactor),
		"ROLLCALL_BUDGET_INSTANCES="+strconv.Itoa(r.opts.Refreshers),
		// As WeCom's minute and hour, what mends is scaled: a campaign is short.
		"ROLLCALL_KEEPER_CONFIRM=2s",
		"ROLLCALL_AUDIT_BOUND=10s",
		"ROLLCALL_AUDIT_EVERY=20s",
	)
	if r.opts.Console {
		key := seal.Generate("console")
		r.tell(key)
		env = append(env, "ROLLCALL_CONSOLE_KEYS="+key)
	}
	return append(env, r.opts.Env...)
}

func randomStdKey() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return base64.StdEncoding.EncodeToString(key[:])
}
