package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisboard"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/recent"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// How often what is expensive is asked for, however many look, and how long a
// part may take.
const (
	censusKept    = 15 * time.Second // it reads the whole dirty set
	figuresKept   = 5 * time.Second  // it makes the broker count precisely
	statusTimeout = 3 * time.Second
	mostCause     = 160
)

// Status reads what an operator sees of the whole installation.
type Status struct {
	looker  board.Looker
	calls   *redisboard.Board
	closers closers
}

// StatusParts are the connections of a process that has them already.
type StatusParts struct {
	DB    *mongostore.Database
	Redis redis.UniversalClient
}

// NewStatus returns a Status on connections that stay the caller's; what it opens
// itself, Close ends.
func NewStatus(cfg config.Config, parts StatusParts) (*Status, error) {
	reports, err := redisboard.New(parts.Redis, redisboard.Options{Prefix: cfg.Redis.KeyPrefix})
	if err != nil {
		return nil, err
	}
	slots, err := redisbudget.NewSlots(parts.Redis, budgetOptions(cfg, telemetry.Silent()))
	if err != nil {
		return nil, err
	}
	s := &Status{calls: reports}
	figures, err := s.figures(cfg.Pulsar)
	if err != nil {
		return nil, err
	}
	s.looker = board.Looker{
		Ports: board.Ports{
			Reports: reports, Uses: tenantUses{reports, slots}, Census: newDirtyCensus(parts.DB.Dirty()),
			Recomputations: recomputations{parts.DB.FanOuts()}, Figures: figures,
		},
		MinuteLimit: within(cfg.Budget.TenantPerMinute, cfg.Budget.Minute, time.Minute), HourLimit: within(cfg.Budget.TenantPerHour, cfg.Budget.Hour, time.Hour),
		Timeout: statusTimeout, Now: time.Now, Cause: causeOf,
	}
	return s, nil
}

// OpenStatus prepares connections of its own; the servers may be away. The caller
// closes it.
func OpenStatus(ctx context.Context, cfg config.Config) (*Status, error) {
	var opened closers
	s, err := openStatus(cfg, &opened)
	if err != nil {
		return nil, errors.Join(err, opened.close(ctx, flushTimeout))
	}
	s.closers = append(opened, s.closers...)
	return s, nil
}

func openStatus(cfg config.Config, opened *closers) (*Status, error) {
	db, err := openMongo(cfg, "operator")
	if err != nil {
		return nil, err
	}
	opened.add(db.Close)
	client, err := openRedis(cfg.Redis, telemetry.Silent())
	if err != nil {
		return nil, err
	}
	opened.add(func(context.Context) error { return client.Close() })
	return NewStatus(cfg, StatusParts{DB: db, Redis: client})
}

// View looks once. What cannot be read is told in the View; the error is that of
// ctx.
func (s *Status) View(ctx context.Context) (board.View, error) {
	view := s.looker.Look(ctx)
	return view, ctx.Err()
}

// Use returns the minutes since an instant, at most a day ago, in which a tenant
// asked for calls.
func (s *Status) Use(ctx context.Context, tenant string, since time.Time) ([]board.Minute, error) {
	return s.calls.Use(ctx, tenant, since)
}

// Close ends what it has opened.
func (s *Status) Close(ctx context.Context) error { return s.closers.close(ctx, flushTimeout) }

// within is a limit of calls in a window as one of so many in span: WeCom's
// windows are configured, and a board counts by the clock.
func within(calls int, window, span time.Duration) int {
	return int(allowed(calls, window) * span.Seconds())
}

// causeOf is an error in one line that a screen has room for, without a secret. A
// driver's error may list a whole topology.
func causeOf(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	runes := []rune(telemetry.Scrub(err.Error()))
	if len(runes) > mostCause {
		return string(runes[:mostCause-1]) + "…"
	}
	return string(runes)
}

// tenantUses is what tenants called, and until when they are blocked.
type tenantUses struct {
	calls *redisboard.Board
	slots *redisbudget.Slots
}

func (u tenantUses) Hottest(ctx context.Context, now time.Time, n int, named []string) ([]board.TenantUse, error) {
	uses, err := u.calls.Hottest(ctx, now, n, named)
	if err != nil || len(uses) == 0 {
		return nil, err
	}
	tenants := make([]string, len(uses))
	for i, use := range uses {
		tenants[i] = use.Tenant
	}
	until, err := u.slots.BlockedUntil(ctx, tenants)
	if err != nil {
		return nil, err
	}
	for i := range uses {
		if until[i].After(now) {
			uses[i].BlockedUntil = until[i].UTC()
		}
	}
	return uses, nil
}

// dirtyCensus counts the dirty set, not more often than it can bear.
type dirtyCensus struct {
	counts *recent.Answer[[]mongostore.DirtyCount]
}

func newDirtyCensus(dirty *mongostore.Dirty) dirtyCensus {
	return dirtyCensus{recent.NewAnswer(censusKept, time.Now, dirty.Count)}
}

func (c dirtyCensus) Census(ctx context.Context) ([]board.DirtyReason, error) {
	counts, err := c.counts.Get(ctx)
	reasons := make([]board.DirtyReason, len(counts))
	for i, of := range counts {
		reasons[i] = board.DirtyReason{Reason: of.Reason, Codes: of.Codes, Oldest: of.Oldest.UTC(), Repairs: of.Reason.Repairs()}
	}
	return reasons, err
}

// recomputations are the fan-outs under way.
type recomputations struct{ jobs *mongostore.FanOuts }

func (r recomputations) UnderWay(ctx context.Context, now time.Time, limit int) ([]board.FanOut, int, error) {
	jobs, err := r.jobs.UnderWay(ctx, listPage)
	if err != nil {
		return nil, 0, err
	}
	shown := []board.FanOut{}
	for _, job := range jobs[:min(limit, len(jobs))] {
		left, known := job.Left(job.Rate(now))
		shown = append(shown, board.FanOut{
			ID: job.ID, Tenant: job.Tenant, Staff: job.Staff, Why: job.Why, State: string(job.State), Requested: job.Requested,
			Done: job.Released, Total: job.Total, Left: board.SecondsOf(left), LeftKnown: known,
		})
	}
	return shown, len(jobs), nil
}

// brokerFigures asks the broker, not more often than it can bear.
type brokerFigures struct {
	cfg   config.Pulsar
	admin subscriptionFigures // nil without an admin URL
	last  *recent.Answer[board.Broker]
}

func (s *Status) figures(cfg config.Pulsar) (*brokerFigures, error) {
	f := &brokerFigures{cfg: cfg}
	f.last = recent.NewAnswer(figuresKept, time.Now, f.ask)
	if cfg.AdminURL == "" {
		return f, nil
	}
	admin, err := openAdmin(cfg)
	if err != nil {
		return nil, err
	}
	s.closers.add(func(context.Context) error { admin.Close(); return nil })
	f.admin = admin
	return f, nil
}

func (f *brokerFigures) Subscription(ctx context.Context) (board.Broker, error) {
	if f.admin == nil {
		return board.Broker{}, fmt.Errorf("ROLLCALL_PULSAR_ADMIN_URL: %w", board.ErrUnset)
	}
	b, err := f.last.Get(ctx)
	b.Consumers = slices.Clone(b.Consumers)
	return b, err
}

func (f *brokerFigures) ask(ctx context.Context) (board.Broker, error) {
	stats, err := f.admin.Stats(ctx, f.cfg.Topic, f.cfg.Subscription)
	if err != nil {
		return board.Broker{}, err
	}
	letters, err := f.admin.DeadLetters(ctx, f.cfg.DeadLetterTopic, "")
	if err != nil {
		return board.Broker{}, err
	}
	return brokerOf(f.cfg, stats, letters), nil
}

func brokerOf(cfg config.Pulsar, stats pulsarbus.Stats, letters int64) board.Broker {
	b := board.Broker{
		Topic: cfg.Topic, Subscription: cfg.Subscription, Backlog: stats.Backlog, Unacked: stats.Unacked, InReplay: stats.InReplay,
		AckHoles: stats.AckHoles, Draining: stats.DrainingHashes, Blocked: stats.Blocked, DeadLetters: letters, Consumers: []board.Consumer{},
	}
	if !stats.Oldest.IsZero() {
		b.Oldest = stats.Oldest.UTC()
	}
	for _, c := range stats.Each {
		b.Consumers = append(b.Consumers, board.Consumer{Name: c.Name, Unacked: c.Unacked, Draining: c.Draining, Blocked: c.Blocked, Keys: c.Keys})
	}
	return b
}
