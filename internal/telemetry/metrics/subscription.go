package metrics

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"
)

const (
	nameSubBacklog   = "rollcall.subscription.backlog"
	nameSubUnacked   = "rollcall.subscription.unacked"
	nameSubReplay    = "rollcall.subscription.in_replay"
	nameSubHoles     = "rollcall.subscription.ack_holes"
	nameSubOldest    = "rollcall.subscription.oldest"
	nameSubConsumers = "rollcall.subscription.consumers"
	nameSubBlocked   = "rollcall.subscription.blocked_consumers"
	nameSubDraining  = "rollcall.subscription.draining_hashes"
	nameSubLooks     = "rollcall.subscription.looks"
	nameLetters      = "rollcall.dead_letters.waiting"
)

// What became of a look at the subscription.
const (
	LookOK     = "ok"
	LookFailed = "failed"
)

// subscribed are what the broker says of the subscription. The keeper at work
// asks for them; while it could not, there are no series rather than old values.
func subscribed() []Instrument {
	return []Instrument{
		{
			Name: nameSubBacklog, Prometheus: "rollcall_subscription_backlog", Kind: Gauge, Unit: "{message}",
			What:   "Messages of the subscription that are not acknowledged, over all partitions, delivered or not.",
			Action: "By itself it cannot tell a throttle from a stall: take off rollcall.backlog with state held, summed over the refreshers. What is left and grows is work that nobody does.",
		},
		{
			Name: nameSubUnacked, Prometheus: "rollcall_subscription_unacked", Kind: Gauge, Unit: "{message}",
			What:   "Those of them that are with a refresher.",
			Action: "Near 50000 a refresher or 200000 in all the broker stops handing out: lower ROLLCALL_REFRESHER_MAX_HELD or ROLLCALL_PULSAR_RECEIVER_QUEUE, or raise the broker's limits.",
		},
		{
			Name: nameSubReplay, Prometheus: "rollcall_subscription_in_replay", Kind: Gauge, Unit: "{message}",
			What:   "Those of them that the broker will hand out again.",
			Action: "At 20000 the broker stops reading new messages, of every code. Growing while keys move: refreshers come and go too often.",
		},
		{
			Name: nameSubHoles, Prometheus: "rollcall_subscription_ack_holes", Kind: Gauge, Unit: "{range}",
			What:   "Acknowledged ranges beyond the oldest message that is not.",
			Action: "Beyond the broker's managedLedgerMaxUnackedRangesToPersist (10000) acknowledgements are forgotten when it restarts: the events come again, which does no harm but takes time. One very old message makes many: see rollcall.subscription.oldest.",
		},
		{
			Name: nameSubOldest, Prometheus: "rollcall_subscription_oldest_seconds", Kind: Gauge, Unit: "s",
			What:   "How long ago the oldest message that is not acknowledged was published; 0 when there is none.",
			Action: "Held codes stay below ROLLCALL_REFRESHER_PARK_AFTER and a hold. Older than a few minutes: a refresher hangs, or the broker forgot to hand out a message; see docs/runbooks.",
		},
		{
			Name: nameSubConsumers, Prometheus: "rollcall_subscription_consumers", Kind: Gauge, Unit: "{consumer}",
			What:   "Refreshers that the broker knows.",
			Action: "As many as run. Fewer: some cannot reach the broker. More for longer than half a minute: one is dead and its keys wait until the broker notices.",
		},
		{
			Name: nameSubBlocked, Prometheus: "rollcall_subscription_blocked_consumers", Kind: Gauge, Unit: "{consumer}",
			What:   "Refreshers to which the broker hands out nothing, because they are at its limit of messages that are not acknowledged; each counts once a partition.",
			Action: "Must stay at zero: see rollcall.subscription.unacked.",
		},
		{
			Name: nameSubDraining, Prometheus: "rollcall_subscription_draining_hashes", Kind: Gauge, Unit: "{hash}",
			What:   "Hashes of codes that wait until the refresher they belonged to has acknowledged what it has.",
			Action: "Above zero for a moment when a refresher joins or leaves. For longer than ROLLCALL_REFRESHER_MAX_HOLD: a refresher hangs, and the codes of these hashes with it.",
		},
		{
			Name: nameSubLooks, Prometheus: "rollcall_subscription_looks_total", Kind: Counter, Unit: "{look}",
			Labels: []Label{{"outcome", []string{LookOK, LookFailed, Other}}},
			What:   "Times that the keeper asked the broker for these figures.",
			Action: "failed: the admin API is not reachable or refuses us; `rollcall preflight` says why. None at all: ROLLCALL_PULSAR_ADMIN_URL is not set, or no keeper works.",
		},
		{
			Name: nameLetters, Prometheus: "rollcall_dead_letters_waiting", Kind: Gauge, Unit: "{message}",
			What:   "Dead letters that nobody has dealt with.",
			Action: "`rollcall deadletters list` shows them, `republish` and `discard` deal with them.",
		},
	}
}

// SubscriptionState is what the broker says at one moment.
type SubscriptionState struct {
	Backlog, Unacked, InReplay, AckHoles int64
	Consumers, BlockedConsumers          int
	DrainingHashes                       int64
	Oldest                               time.Duration // since the oldest message not acked was published
	DeadLetters                          int64
}

// Subscription records what the broker says of the subscription. Its methods are
// safe for concurrent use and neither block nor fail.
type Subscription struct {
	meter metric.Meter
	looks counter

	backlog, unacked, replay, holes, consumers, blocked, draining, letters metric.Int64ObservableGauge
	oldest                                                                 metric.Float64ObservableGauge
}

// NewSubscription makes the instruments of the catalog.
func NewSubscription(meter metric.Meter) (*Subscription, error) {
	b := builder{meter: meter}
	s := &Subscription{
		meter:     meter,
		looks:     b.counter(nameSubLooks),
		backlog:   b.gauge(nameSubBacklog),
		unacked:   b.gauge(nameSubUnacked),
		replay:    b.gauge(nameSubReplay),
		holes:     b.gauge(nameSubHoles),
		consumers: b.gauge(nameSubConsumers),
		blocked:   b.gauge(nameSubBlocked),
		draining:  b.gauge(nameSubDraining),
		letters:   b.gauge(nameLetters),
		oldest:    b.fraction(nameSubOldest),
	}
	if b.err != nil {
		return nil, fmt.Errorf("creating the subscription's metrics: %w", b.err)
	}
	return s, nil
}

// Looked records a look at the subscription: LookOK or LookFailed.
func (s *Subscription) Looked(ctx context.Context, outcome string) { s.looks.add(ctx, outcome, "") }

// Observe has last asked whenever metrics are collected; nil is that nothing is
// known now. It must be quick and safe to call from another goroutine. Call stop
// before what it looks at is gone.
func (s *Subscription) Observe(last func() *SubscriptionState) (stop func() error, err error) {
	registration, err := s.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		if state := last(); state != nil {
			s.observe(o, *state)
		}
		return nil
	}, s.backlog, s.unacked, s.replay, s.holes, s.consumers, s.blocked, s.draining, s.letters, s.oldest)
	if err != nil {
		return nil, fmt.Errorf("observing the subscription: %w", err)
	}
	return registration.Unregister, nil
}

func (s *Subscription) observe(o metric.Observer, state SubscriptionState) {
	o.ObserveInt64(s.backlog, state.Backlog)
	o.ObserveInt64(s.unacked, state.Unacked)
	o.ObserveInt64(s.replay, state.InReplay)
	o.ObserveInt64(s.holes, state.AckHoles)
	o.ObserveInt64(s.consumers, int64(state.Consumers))
	o.ObserveInt64(s.blocked, int64(state.BlockedConsumers))
	o.ObserveInt64(s.draining, state.DrainingHashes)
	o.ObserveInt64(s.letters, state.DeadLetters)
	o.ObserveFloat64(s.oldest, state.Oldest.Seconds())
}
