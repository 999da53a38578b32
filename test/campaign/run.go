package campaign

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
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
	api          *api
	admin        *pulsarbus.Admin
	platform     *platform
	fleet        *fleet.Fleet
	live         *live
	serving      sync.WaitGroup
	killed       int
	rolled       []Rolled
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
	for _, step := range []func(context.Context) error{r.launch, r.seed, r.rest} {
		if err := step(ctx); err != nil {
			return Report{}, err
		}
	}
	if err := r.play(ctx); err != nil {
		return Report{}, err
	}
	return r.judge(ctx)
}

// play lets actors and customers move while the processes meet what the options
// have for them, and then lets everything come to rest.
func (r *running) play(ctx context.Context) error {
	acting, rest := context.WithCancel(ctx)
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
		err = r.perform(acting)
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

// perform lasts as long as whoever directs it wants, or for the duration and the rolls.
func (r *running) perform(ctx context.Context) error {
	if r.opts.Direct != nil {
		return r.opts.Direct(ctx, r.scene())
	}
	end := time.Now().Add(r.opts.Duration)
	if err := r.crash(ctx); err != nil {
		return err
	}
	for i, roll := range r.opts.Rolls {
		sleep(ctx, time.Until(end)/time.Duration(len(r.opts.Rolls)-i+1))
		began := time.Now()
		if err := r.roll(ctx, roll); err != nil {
			return err
		}
		end = end.Add(time.Since(began))
	}
	sleep(ctx, time.Until(end))
	return nil
}

func (r *running) customers(ctx context.Context) (*wecomsim.Stream, error) {
	if r.opts.ScanRate == 0 {
		return nil, nil
	}
	var codes []wecomsim.ScanCode
	for _, p := range r.plans {
		for _, c := range p.codes {
			codes = append(codes, wecomsim.ScanCode{Corp: corpOf(p.tenant.ID), ConfigID: c.ConfigID, Drawn: c.Family.Rotates()})
		}
	}
	return r.sim.StartScans(ctx, wecomsim.Scans{
		Codes: codes, Rate: r.opts.ScanRate, Zipf: 0.6, Seed: r.opts.Seed, Draw: r.api,
		After: wecomsim.After{Delay: wecomsim.Latency{P50: 150 * time.Millisecond, P99: 900 * time.Millisecond}, DuplicateShare: 0.05, HalfShare: 0.1},
	})
}

func (r *running) scene() Scene {
	s := Scene{Fleet: r.fleet, Sim: r.sim}
	for _, p := range r.plans {
		if p.tenant.ID != stormTenant {
			s.Tenants = append(s.Tenants, p.tenant.ID)
		}
	}
	return s
}

// crash kills a refresher and an ingress at two fifths of the play and starts
// others at half.
func (r *running) crash(ctx context.Context) error {
	if !r.opts.Kill || !sleep(ctx, r.opts.Duration*2/5) {
		return nil
	}
	for _, role := range []string{"refresher", "ingress"} {
		victim := r.members(role)[0]
		if err := r.fleet.Kill(victim); err != nil {
			return err
		}
		r.killed++
		r.live.say("killed %s with SIGKILL", victim.Name())
	}
	if !sleep(ctx, r.opts.Duration/10) {
		return nil
	}
	for _, role := range []string{"refresher", "ingress"} {
		fresh, err := r.fleet.Start(ctx, role)
		if err != nil {
			return err
		}
		r.live.say("%s has joined", fresh.Name())
	}
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
