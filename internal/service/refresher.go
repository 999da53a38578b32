package service

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/adapter/redishint"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// stallLimit is the age of the intake's last beat from which the process
// counts as hung.
const stallLimit = 4 * intake.BeatEvery

// refresher is one consumer with all that it needs.
type refresher struct {
	cfg     config.Config
	tel     *telemetry.Telemetry
	health  *telemetry.Health
	metrics *metrics.Refresher
	db      *mongostore.Database
	redis   redis.UniversalClient
	closers closers
	bus     *pulsarbus.Subscription
	// subscribed is bus, for whoever asks while the role still opens it.
	subscribed atomic.Pointer[pulsarbus.Subscription]
	joins      *redishint.Joins
	intake     *intake.Intake
	working    atomic.Pointer[intake.Intake] // intake, for whoever asks while the role still opens it
	counting   tallying
	protocol   *push.Protocol
	alert      raise
	seams      []Seams // none but in a test
}

// RunRefresher consumes refresh events until ctx ends, then drains: it stops
// receiving, finishes what is in flight, confirms the acks and closes. Work
// that was not started goes back to the broker.
func RunRefresher(ctx context.Context, cfg config.Config, version string, seams ...Seams) error {
	return runRole(ctx, cfg, "refresher", version, func(ctx context.Context, host *host) error {
		r := &refresher{cfg: cfg, tel: host.tel, health: host.health, seams: seams}
		return errors.Join(r.run(ctx, host), r.closers.close(ctx, cfg.Refresher.DrainTimeout))
	})
}

func (r *refresher) run(ctx context.Context, host *host) error {
	if err := r.open(ctx, host); err != nil {
		return unlessAsked(ctx, err)
	}
	host.pages.Handle("GET /backlog", backlogPage{r.intake.Tenants, r.cfg.Refresher.Workers})
	host.started()
	host.tel.Log.InfoContext(ctx, "refresher ready", "instance", r.cfg.Refresher.Instance, "topic", r.cfg.Pulsar.Topic)
	return r.intake.Run(ctx)
}

// unlessAsked is nil when a start was given up because the process was asked to
// stop, while the broker was away.
func unlessAsked(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// open connects to everything; what it opened, closers ends.
func (r *refresher) open(ctx context.Context, host *host) error {
	var err error
	if r.metrics, err = metrics.NewRefresher(r.tel.Meters.Meter("github.com/rollcall-dev/rollcall")); err != nil {
		return err
	}
	if r.db, err = openMongo(r.cfg, "refresher"); err != nil {
		return err
	}
	r.closers.add(r.db.Close)
	if r.redis, err = openRedis(r.cfg.Redis, r.tel); err != nil {
		return err
	}
	r.closers.add(func(context.Context) error { return r.redis.Close() })
	r.counting = newTallying()
	stopTelling, err := startTelling(ctx, r.cfg, host, telling{r.redis, r.report, r.counting.calls})
	if err != nil {
		return err
	}
	r.closers.add(stopTelling)
	var stopAlerts func(context.Context) error
	if r.alert, stopAlerts, err = startAlerter(ctx, r.cfg, r.redis, r.metrics, r.tel); err != nil {
		return err
	}
	r.closers.add(stopAlerts)
	host.depend(r.dependencies()...)
	if err := r.subscribe(ctx); err != nil {
		return err
	}
	if err := r.assemble(ctx); err != nil {
		return err
	}
	stop, err := r.observe()
	if err != nil {
		return err
	}
	r.closers.add(stop)
	return nil
}

// subscribe joins the subscription and tells the siblings, so that they hand
// back what they hold.
func (r *refresher) subscribe(ctx context.Context) error {
	r.joins = redishint.New(r.redis, r.cfg.Pulsar.Subscription, redishint.Options{
		Prefix: r.cfg.Redis.KeyPrefix, Instance: r.cfg.Refresher.Instance, Logger: r.tel.Log,
	})
	listening, stop := context.WithCancel(context.WithoutCancel(ctx))
	heard := r.joins.Listen(listening)
	r.closers.add(func(context.Context) error {
		stop()
		r.joins.Wait()
		return nil
	})
	options := busOptions(r.cfg, heard, r.tel)
	options.OnHeartbeat = func(age time.Duration) { r.metrics.Heard(listening, age) }
	err := untilBroker(ctx, r.tel.Log, "subscribing to "+r.cfg.Pulsar.Topic, func() (err error) {
		r.bus, err = pulsarbus.Open(ctx, options)
		return err
	})
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", r.cfg.Pulsar.Topic, err)
	}
	r.subscribed.Store(r.bus)
	r.closers.add(r.bus.Close)
	if err := r.joins.Publish(ctx); err != nil {
		r.tel.Log.WarnContext(ctx, "siblings were not told of the join; keys move more slowly", "error", err)
	}
	return nil
}

// assemble hands the adapters to the protocol and the protocol to the intake.
func (r *refresher) assemble(ctx context.Context) error {
	wecom, closeIdle, err := newVendor(r.cfg, r.db, r.redis, r.tel)
	if err != nil {
		return err
	}
	r.closers.add(func(context.Context) error { closeIdle(); return nil })
	budget, err := newBudget(r.cfg, r.redis, r.tel)
	if err != nil {
		return err
	}
	rotation, err := redisrotation.New(r.redis, redisrotation.Options{Prefix: r.cfg.Redis.KeyPrefix})
	if err != nil {
		return err
	}
	notices, err := newFiler(r.db, r.tel.Meters.Meter("github.com/rollcall-dev/rollcall"))
	if err != nil {
		return err
	}
	recorder, stopTrail, err := startTrail(ctx, r.db, r.tel.Meters.Meter("github.com/rollcall-dev/rollcall"), r.tel)
	if err != nil {
		return err
	}
	r.closers.add(stopTrail)
	store := alertingStore{spreadingStore{r.db.Store(), r.db.FanOuts(), notices, time.Now}, r.alert}
	limited := newConcurrency(talliedVendor{observedVendor{wecom, r.metrics}, r.counting}, r.cfg.Refresher.TenantInFlight, r.setTenantCap)
	r.protocol = push.New(decoratedPush(push.Ports{
		Store: store, Rotation: rotation, Budget: talliedBudget{observedBudget{alertingBudget{budget, r.alert}, r.metrics}, r.counting}, Vendor: limited, Breaker: wecom,
		Shadows: r.db.Shadows(), Journal: recorder,
	}, r.seams), protocolOptions(r.cfg))
	r.intake = intake.New(decoratedIntake(intake.Ports{
		Subscription: r.bus, Refresher: trailedRefresher{r.protocol, recorder}, Dirty: r.db.Dirty(), Observer: talliedObserver{observer{r.metrics}, r.counting},
	}, r.seams), intakeOptions(r.cfg, r.health.Heartbeat("intake", stallLimit).Beat, r.tel))
	r.working.Store(r.intake)
	return nil
}

func (r *refresher) setTenantCap(tenant string, n int) { r.intake.SetTenantCap(tenant, n) }

// dependencies are what the refresher is not ready without.
func (r *refresher) dependencies() []telemetry.Dependency {
	redis := redisOf(r.redis)
	noticed := silence{ask: redis.Ask, raise: r.alert, notice: alert.RedisDown}
	redis.Ask = noticed.Ask
	return []telemetry.Dependency{
		mongoOf(r.db), redis,
		{Name: "pulsar", Ask: r.connected, Every: time.Second, Timeout: time.Second},
	}
}

// connected asks the subscription, once there is one.
func (r *refresher) connected(ctx context.Context) error {
	if bus := r.subscribed.Load(); bus != nil {
		return bus.Connected(ctx)
	}
	return errNoBroker
}

func protocolOptions(cfg config.Config) push.Options {
	return push.Options{
		Owner:        cfg.Refresher.Instance,
		CallTimeout:  cfg.WeCom.CallTimeout,
		IntentMargin: cfg.Refresher.IntentMargin,
		ParkAfter:    cfg.Refresher.ParkAfter,
		Lanes:        laneRules(cfg),
		Backoff:      push.Backoff{Base: cfg.Refresher.BackoffBase, Cap: cfg.Refresher.BackoffCap},
		MaxFailures:  cfg.Refresher.MaxFailures,
		Now:          time.Now,
	}
}

func laneRules(cfg config.Config) roster.LaneRules {
	return roster.LaneRules{FastFor: cfg.Lane.FastFor, FastTiers: cfg.Lane.FastTiers, SlowInterval: cfg.Lane.SlowInterval}
}

// room is how many codes the intake may keep un-acked: what its client fetches
// ahead, and the acks that are on their way, are un-acked to the broker too. A
// room that is hardly larger than what is fetched ahead is not made smaller
// still: a code that finds none leaves the slot behind that it has booked.
func room(cfg config.Config) int {
	most, ahead := cfg.Refresher.MaxHeld, cfg.Pulsar.ReceiverQueue
	if most <= 3*ahead {
		return most
	}
	return most - ahead - ahead/2
}

func intakeOptions(cfg config.Config, beat func(), tel *telemetry.Telemetry) intake.Options {
	return intake.Options{
		Workers:      cfg.Refresher.Workers,
		TenantCap:    cfg.Refresher.TenantInFlight,
		MaxHeld:      room(cfg),
		MaxHold:      cfg.Refresher.MaxHold,
		Recheck:      cfg.Refresher.Recheck,
		Stumble:      cfg.Refresher.BackoffBase,
		DrainTimeout: cfg.Refresher.DrainTimeout,
		MaxFailures:  cfg.Refresher.MaxFailures,
		Beat:         beat,
		Tracer:       tel.Tracers.Tracer("github.com/rollcall-dev/rollcall/internal/intake"),
		Propagator:   tel.Propagator,
		Logger:       tel.Log,
	}
}
