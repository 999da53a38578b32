package service

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisboard"
	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// How a process tells of itself. callsRoom is more than tenants that call within
// a few seconds; callsPerTell keeps one telling a matter of milliseconds.
const (
	tellTimeout  = time.Second
	callsRoom    = 8192
	callsPerTell = 2048
)

// telling is what a process has to say beside what all have.
type telling struct {
	redis redis.UniversalClient
	add   func(now time.Time, report *board.Report) // nil: nothing
	calls *board.Calls                              // nil: it asks for none
}

// startTelling has the process tell of itself until stop. Nothing waits for it.
func startTelling(ctx context.Context, cfg config.Config, host *host, t telling) (stop func(context.Context) error, err error) {
	place, err := redisboard.New(t.redis, redisboard.Options{Prefix: cfg.Redis.KeyPrefix})
	if err != nil {
		return nil, err
	}
	seen, err := metrics.NewBoard(host.tel.Meters.Meter("github.com/rollcall-dev/rollcall"))
	if err != nil {
		return nil, err
	}
	started := time.Now()
	teller := board.NewTeller(board.TellerOptions{
		Place: place, Calls: t.calls, PerTell: callsPerTell, Timeout: tellTimeout, Lost: seen.Lost, Now: time.Now, Logger: host.tel.Log,
		Report: func(now time.Time) board.Report {
			report := board.Report{
				Instance: cfg.Refresher.Instance, Role: board.Role(host.role), Version: host.version, Started: started, At: now, Missing: missing(host),
			}
			if t.add != nil {
				t.add(now, &report)
			}
			return report
		},
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { teller.Run(ctx) })
	return func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	}, nil
}

// missing are the servers that did not answer when they were asked last.
func missing(host *host) []board.Missing {
	var without []board.Missing
	for _, check := range host.health.Ready().Checks {
		if !check.OK && check.LimitSeconds > 0 && check.AgeSeconds > 0 { // asked, and no state of the process itself
			without = append(without, board.Missing{Name: check.Name, Cause: check.Error})
		}
	}
	return without
}

// tallying counts for the board what a refresher does.
type tallying struct {
	tally *board.Tally
	calls *board.Calls
	now   func() time.Time
}

func newTallying() tallying { return tallying{board.NewTally(), board.NewCalls(callsRoom), time.Now} }

// report adds what the refresher holds and has done; nothing while it opens.
func (r *refresher) report(now time.Time, report *board.Report) {
	at := r.working.Load()
	if at == nil {
		return
	}
	report.Work = r.counting.work(now, at.Stats(), at.Tenants(), r.cfg)
}

func (t tallying) work(now time.Time, stats keyqueue.Stats, tenants []keyqueue.TenantStats, cfg config.Config) *board.Work {
	t.tally.Busy(now, stats.Ready+stats.InFlight)
	w := &board.Work{
		Runnable: stats.Ready, InFlight: stats.InFlight, Held: stats.ByCause, Limit: room(cfg), Workers: cfg.Refresher.Workers,
		Load: load(tenants, cfg.Refresher.Workers).Share, Tenants: len(tenants), Top: []board.TenantWork{},
		LastFive: t.tally.Over(now, 5*time.Minute), LastHour: t.tally.Over(now, time.Hour),
	}
	for _, of := range busiest(tenants, board.MostTenants) {
		w.Top = append(w.Top, board.TenantWork{Tenant: of.Tenant, Runnable: of.Ready, InFlight: of.InFlight, Held: of.Held})
	}
	return w
}

// talliedObserver counts how refreshes end, and how old their events were.
type talliedObserver struct {
	observer
	tallying
}

func (o talliedObserver) Ended(ctx context.Context, e intake.Ended) {
	o.observer.Ended(ctx, e)
	now := o.now()
	o.tally.Ended(now, e.Outcome)
	if push, is := freshOf(e); is {
		o.tally.Fresh(now, board.Fresh(push))
	}
}

// talliedVendor counts calls by the class of their error.
type talliedVendor struct {
	push.Vendor
	tallying
}

func (v talliedVendor) Update(ctx context.Context, call push.Call) error {
	err := v.Vendor.Update(ctx, call)
	if _, class, made := endOf(err); made {
		v.tally.Called(v.now(), class)
	}
	return err
}

// talliedBudget counts what tenants ask for and get.
type talliedBudget struct {
	push.Budget
	tallying
}

func (b talliedBudget) Admit(ctx context.Context, ask push.Ask) (push.Admission, error) {
	admission, err := b.Budget.Admit(ctx, ask)
	switch now := b.now(); {
	case err != nil:
	case admission.Granted:
		b.calls.Granted(now, ask.Tenant)
	default:
		b.calls.Refused(now, ask.Tenant)
		b.tally.Refused(now, admission.Cause)
	}
	return admission, err
}
