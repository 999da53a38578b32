package campaign

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/fleet"
)

// running is one campaign under way.
type running struct {
	opts         Options
	name         string // keeps topics, database and keys apart from other runs'
	topic        string
	subscription string
	plans        []tenantPlan
	tally        *tally
	sim          *wecomsim.Sim
	simServer    *http.Server
	simURL       string
	callbacks    *http.Server
	callbackURL  string
	sealKeys     string
	db           *mongostore.Database
	redis        *redis.Client
	rotation     *redisrotation.Rotation
	producer     *refresh.Producer
	admin        *pulsarbus.Admin
	platform     *platform
	fleet        *fleet.Fleet
	live         *live
	serving      sync.WaitGroup
	killed       int
	restedAt     time.Time // since when nothing has moved
}

// Run plays a campaign to its end and judges it. The error says that the run
// itself could not be played; whether it was a good one is in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	if err := o.Validate(); err != nil {
		return Report{}, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r := &running{opts: o, name: "campaign-" + rand.Text()[:8], subscription: "rollcall", tally: newTally()}
	r.topic = "persistent://public/default/" + r.name
	r.live = &live{w: o.Live, started: time.Now(), run: r}
	defer r.close()
	if err := r.open(ctx); err != nil {
		return Report{}, err
	}
	if err := r.seed(ctx); err != nil {
		return Report{}, err
	}
	if err := r.launch(ctx); err != nil {
		return Report{}, err
	}
	if err := r.play(ctx); err != nil {
		return Report{}, err
	}
	return r.judge(ctx)
}

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
	if r.producer, err = refresh.Dial(r.opts.Servers.PulsarURL, refresh.Options{Topic: r.topic, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return err
	}
	r.plans = plan(r.opts, time.Now())
	r.platform = newPlatform(r.db, r.producer, r.plans, r.tally, r.opts.Logger)
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

// seed writes the world to the store and to the simulator.
func (r *running) seed(ctx context.Context) error {
	codes := 0
	for _, p := range r.plans {
		if err := r.seedTenant(ctx, p); err != nil {
			return err
		}
		codes += len(p.codes)
	}
	r.live.say("seeded %d tenants, %d codes", len(r.plans), codes)
	return nil
}

func (r *running) seedTenant(ctx context.Context, p tenantPlan) error {
	secret, token, key := rand.Text(), rand.Text(), randomKey()
	r.tell(secret, token, key)
	corp := wecomsim.Corp{
		ID: "corp-" + p.tenant.ID, Apps: []wecomsim.App{{Secret: secret}}, OpenRoster: true,
		Callback: wecomsim.Callback{URL: r.callbackURL + "/callback/" + p.tenant.ID, Token: token, EncodingAESKey: key},
	}
	codec, err := wecomcrypto.New(token, key, corp.ID)
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
	facts := r.db.Facts()
	return errors.Join(
		facts.PutTenant(ctx, p.tenant),
		facts.PutCredentials(ctx, p.tenant.ID, corp.ID, secret),
		facts.PutStaff(ctx, p.tenant.ID, p.staff...),
		facts.PutCodes(ctx, p.codes...),
	)
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

// launch starts the processes of Rollcall and publishes every code once.
func (r *running) launch(ctx context.Context) error {
	r.fleet = fleet.New(r.opts.Binary, r.environment(), r.opts.LogDir)
	for range r.opts.Refreshers {
		if _, err := r.fleet.Start(ctx, "refresher"); err != nil {
			return err
		}
	}
	if _, err := r.fleet.Start(ctx, "keeper"); err != nil {
		return err
	}
	r.live.say("%d refreshers and a keeper are ready", r.opts.Refreshers)
	for _, p := range r.plans {
		for _, c := range p.codes {
			r.platform.write(ctx, p.tenant.ID, "code_created", func(*truth) []string { return []string{c.ID} },
				func(context.Context) error { return nil })
		}
	}
	r.settle(ctx, r.opts.Settle)
	r.live.say("every code has its first list")
	r.tally.with(func() { r.tally.all.Reset(); r.tally.calm.Reset(); r.tally.recent.Reset() })
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
	)
	return append(env, r.opts.Env...)
}

func randomStdKey() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return base64.StdEncoding.EncodeToString(key[:])
}

// play lets actors and customers move for the duration, with a crash in the
// middle, and then lets everything come to rest.
func (r *running) play(ctx context.Context) error {
	acting, rest := context.WithTimeout(ctx, r.opts.Duration)
	defer rest()
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	var wg sync.WaitGroup
	wg.Go(func() { r.live.loop(watching) })
	cast := &actors{platform: r.platform, plans: r.plans, seed: r.opts.Seed}
	wg.Go(func() { cast.run(acting) })
	wg.Go(func() { cast.turnShifts(watching) }) // time goes on while everything comes to rest
	stream, err := r.customers(ctx)
	if err == nil {
		err = r.crash(acting)
		<-acting.Done()
	}
	rest()
	if stream != nil {
		stream.Stop()
		<-stream.Done()
	}
	if ctx.Err() == nil {
		r.live.say("the campaign is over; waiting for rest")
		r.restedAt = r.settle(ctx, r.opts.Settle)
	}
	stopWatching()
	wg.Wait()
	return errors.Join(err, ctx.Err(), r.platform.failure())
}

func (r *running) customers(ctx context.Context) (*wecomsim.Stream, error) {
	if r.opts.ScanRate == 0 {
		return nil, nil
	}
	var codes []wecomsim.ScanCode
	for _, p := range r.plans {
		for _, c := range p.codes {
			codes = append(codes, wecomsim.ScanCode{Corp: "corp-" + p.tenant.ID, ConfigID: c.ConfigID, Drawn: c.Family.Rotates()})
		}
	}
	return r.sim.StartScans(ctx, wecomsim.Scans{
		Codes: codes, Rate: r.opts.ScanRate, Zipf: 0.6, Seed: r.opts.Seed, Draw: wecomsim.DrawFunc(r.draw),
		After: wecomsim.After{Delay: wecomsim.Latency{P50: 150 * time.Millisecond, P99: 900 * time.Millisecond}, DuplicateShare: 0.05},
	})
}

// draw is the landing page's part: whom the next customer meets.
func (r *running) draw(ctx context.Context, target wecomsim.Target) (string, error) {
	drawn, err := r.rotation.Draw(ctx, push.Ref{Tenant: tenantOf(target.State), Code: target.State}, "")
	return drawn.Staff, err
}

// crash kills one refresher at two fifths of the play and starts another at
// half.
func (r *running) crash(ctx context.Context) error {
	if !r.opts.Kill {
		return nil
	}
	if !sleep(ctx, r.opts.Duration*2/5) {
		return nil
	}
	victim := r.fleet.Members()[0]
	if err := r.fleet.Kill(victim); err != nil {
		return err
	}
	r.killed++
	r.live.say("killed %s with SIGKILL", victim.Name())
	if !sleep(ctx, r.opts.Duration/10) {
		return nil
	}
	fresh, err := r.fleet.Start(ctx, "refresher")
	if err != nil {
		return err
	}
	r.live.say("%s has joined", fresh.Name())
	return nil
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// settle waits until every event is acked and nothing dirty is due soon, at
// most for the time given, and returns since when that is so.
func (r *running) settle(ctx context.Context, limit time.Duration) time.Time {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r.platform.pending.Wait()
	quiet, since := 0, time.Now()
	for quiet < 3 && sleep(ctx, 100*time.Millisecond) {
		now := time.Now()
		stats, err := r.admin.Stats(ctx, r.topic, r.subscription)
		if err != nil || stats.Backlog > 0 || r.dirtySoon(ctx) {
			quiet, since = 0, now
			continue
		}
		quiet++
	}
	return since
}

// maxDirty is the most dirty codes that are counted.
const maxDirty = 10_000

// soon tells dirty codes that wait for budget from those that wait for their
// facts: with nobody left to list, a code is looked at again at midnight.
const soon = 5 * time.Minute

func (r *running) dirtySoon(ctx context.Context) bool {
	due, err := r.db.Dirty().Due(ctx, time.Now().Add(soon), 1)
	return err != nil || len(due) > 0
}

func (r *running) dirtyCount(ctx context.Context) int {
	entries, err := r.db.Dirty().List(ctx, push.Ref{}, maxDirty)
	if err != nil {
		return -1
	}
	return len(entries)
}

// close takes everything down, last things first.
func (r *running) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var failed []error
	if r.fleet != nil {
		failed = append(failed, r.fleet.Stop(ctx))
	}
	if r.sim != nil {
		r.sim.Close()
	}
	for _, s := range []*http.Server{r.simServer, r.callbacks} {
		if s != nil {
			failed = append(failed, s.Close())
		}
	}
	r.serving.Wait()
	if r.producer != nil {
		r.producer.Close()
	}
	if r.admin != nil {
		r.admin.Close()
	}
	if r.redis != nil {
		failed = append(failed, r.redis.Close())
	}
	if r.db != nil {
		failed = append(failed, r.db.Close(ctx))
	}
	if err := errors.Join(failed...); err != nil && !errors.Is(err, os.ErrProcessDone) {
		r.opts.Logger.Warn("the campaign did not end in good order", "error", err)
	}
}
