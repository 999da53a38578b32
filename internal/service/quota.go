package service

import (
	"context"
	"errors"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/callback"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
	"github.com/rollcall-dev/rollcall/internal/trail"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// The loop's rhythm and patience.
const (
	// forgetAfter leaves any attempt at an addition time to end: WeCom waits
	// 5 s, and nobody works longer on it.
	forgetAfter = 30 * time.Second
	// overdueAfter is when the keeper takes over an addition: after the last
	// moment of the attempt that took it up.
	overdueAfter = 10 * time.Second
	// A fan-out whose process died goes on within the lease and a poll.
	fanOutLease   = 4 * time.Second
	fanOutMargin  = 1500 * time.Millisecond
	fanOutBatch   = 100
	fanOutJobs    = 64
	fanOutsOfOne  = 4
	fanOutPoll    = 500 * time.Millisecond
	rememberedFor = 15 * time.Second
	rememberedMax = 50_000
)

// loop is what turns callbacks and changed facts into reasons to recompute. The
// ingress and the keeper both have one.
type loop struct {
	publisher *publish.Publisher
	runner    *fanout.Runner
	requests  fanout.Requester
	counter   *quota.Counter
}

// loopParts are what a loop is put together from. All but poll are required.
type loopParts struct {
	db       *mongostore.Database
	producer refresh.Publisher
	notices  quota.Filer
	metrics  *metrics.Quota
	trail    *trail.Recorder
	tel      *telemetry.Telemetry
	ledgers  quota.Ledgers
	rate     float64       // codes a second that a tenant's fan-outs release
	poll     time.Duration // how often fan-outs are looked for; 0: only own ones
	seams    []Seams       // none but in a test
}

func newLoop(cfg config.Config, parts loopParts) *loop {
	out, store, jobs := topic{parts.producer}, parts.db.Quota(), parts.db.FanOuts()
	l := &loop{publisher: publish.New(out, parts.db.Dirty(), publish.Options{Timeout: cfg.Ingress.PublishTimeout, Now: time.Now})}
	running := fanout.Ports{Store: jobs, Codes: jobs, Topic: out, Observer: parts.metrics}
	l.runner = fanout.New(through(running, parts.seams, func(s Seams) func(fanout.Ports) fanout.Ports { return s.FanOut }), fanout.Options{
		Owner: cfg.Refresher.Instance, Lease: fanOutLease, Margin: fanOutMargin,
		TenantRate: parts.rate, Burst: cfg.Ingress.FanOutBurst, Batch: fanOutBatch,
		Jobs: fanOutJobs, TenantJobs: fanOutsOfOne, Poll: parts.poll, Now: time.Now, Logger: parts.tel.Log,
	})
	l.requests = kicking{jobs, l.runner}
	counting := quota.Ports{
		Facts: store, Contacts: store, Counters: store, Staff: store,
		Publish: l.publisher, FanOuts: l.requests, Notices: parts.notices, Observer: trailedQuota{parts.metrics, parts.trail}, Ledgers: parts.ledgers,
	}
	l.counter = quota.New(through(counting, parts.seams, func(s Seams) func(quota.Ports) quota.Ports { return s.Quota }), quota.Options{ForgetAfter: forgetAfter, Overdue: overdueAfter, Now: time.Now})
	return l
}

// kicking has a fan-out worked on here as soon as it is durable.
type kicking struct {
	store  fanout.Requester
	runner *fanout.Runner
}

// Request stores the request and kicks the runner.
func (k kicking) Request(ctx context.Context, request fanout.Request) (fanout.Ticket, error) {
	ticket, err := k.store.Request(ctx, request)
	if err == nil {
		k.runner.Kick(ticket.ID)
	}
	return ticket, err
}

// directory finds callback settings in MongoDB.
type directory struct{ db *mongostore.Database }

// Settings returns a tenant's settings.
func (d directory) Settings(ctx context.Context, tenant string) (callback.Settings, error) {
	settings, err := d.db.Callback(ctx, tenant)
	if errors.Is(err, mongostore.ErrNoCallback) {
		err = callback.ErrNoReceiver
	}
	return callback.Settings(settings), err
}

func callbackOptions(cfg config.Config, m *metrics.Quota, tel *telemetry.Telemetry) callback.Options {
	return callback.Options{
		Timeout: cfg.Ingress.CallbackTimeout, MaxAge: cfg.Ingress.CallbackMaxAge,
		Places: cfg.Ingress.CallbackPlaces, Waiting: cfg.Ingress.CallbackWaiting,
		Remember: rememberedFor, MaxTenants: rememberedMax,
		Now: time.Now, Observer: m, Logger: tel.Log,
	}
}
