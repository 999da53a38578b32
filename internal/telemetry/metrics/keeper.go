package metrics

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

const (
	nameLease     = "rollcall.keeper.lease"
	nameTakeovers = "rollcall.keeper.takeovers"
	nameSweep     = "rollcall.keeper.sweep"
	nameReleased  = "rollcall.keeper.released"
	nameLate      = "rollcall.keeper.late"
	nameMarked    = "rollcall.keeper.marked"
)

// Sweep is one of the keeper's loops.
type Sweep string

// The sweeps.
const (
	SweepRelease   Sweep = "release"   // codes that are due: dirty, or changed by time alone
	SweepIntents   Sweep = "intents"   // pushes that were left without an outcome
	SweepAdditions Sweep = "additions" // additions that were begun and left
	SweepFacts     Sweep = "facts"     // facts that were stored and never announced
	SweepWays      Sweep = "ways"      // contact ways that are half made
	SweepForget    Sweep = "forget"    // additions that the counters need not know any more
	SweepNotify    Sweep = "notify"    // deliveries that are due; their receivers are not waited for
	SweepHeld      Sweep = "held"      // deliveries whose tenant's pool has room again
	SweepPrune     Sweep = "prune"     // deliveries that ended long ago
	SweepSettle    Sweep = "settle"    // dirty codes that were published: do they agree?
	SweepCensus    Sweep = "census"    // the dirty set is counted
	SweepShadows   Sweep = "shadows"   // lists of codes in shadow mode that can be compared
	SweepHeartbeat Sweep = "heartbeat" // a message on every partition, for the broker to go on
	SweepWatch     Sweep = "watch"     // the broker is asked about the subscription
)

// sweeps are the values of the sweep's label.
func sweeps() []string {
	return []string{
		string(SweepRelease), string(SweepIntents), string(SweepAdditions), string(SweepFacts), string(SweepWays), string(SweepForget),
		string(SweepNotify), string(SweepHeld), string(SweepPrune), string(SweepSettle), string(SweepCensus), string(SweepShadows), string(SweepHeartbeat), string(SweepWatch), Other,
	}
}

// keeping are about the keeper.
func keeping() []Instrument {
	return []Instrument{
		{
			Name: nameLease, Prometheus: "rollcall_keeper_lease", Kind: UpDownCounter, Unit: "{lease}",
			What:   "1 while this keeper holds the lease and works, 0 while it stands by.",
			Action: "The sum over all keepers is 1. Zero for longer than ROLLCALL_KEEPER_LEASE_TTL and a few seconds: no keeper runs, or none reaches MongoDB, and dirty codes stay dirty. Two for a moment, after one was paused, does no harm.",
		},
		{
			Name: nameTakeovers, Prometheus: "rollcall_keeper_takeovers_total", Kind: Counter, Unit: "{takeover}",
			Labels: []Label{{"opening", []string{"released", "expired", Other}}},
			What:   "Times that this keeper began to work: the one before had stopped in order (released), or was not heard of any more (expired).",
			Action: "expired more often than keepers die: they do not reach MongoDB in time, or are starved of CPU; see the log for the lease.",
		},
		{
			Name: nameSweep, Prometheus: "rollcall_keeper_sweep_seconds", Kind: Histogram, Unit: "s",
			Labels:  []Label{{"sweep", sweeps()}},
			Buckets: []float64{0.025, 0.1, 0.25, 0.5, 1, 5, 30},
			What:    "How long one sweep took.",
			Action:  "release above 1 s: codes come back more slowly than their tenants' pace; MongoDB or the broker is slow, or the indexes are missing.",
		},
		{
			Name: nameReleased, Prometheus: "rollcall_keeper_released_total", Kind: Counter, Unit: "{code}",
			Labels: []Label{label("reason", nil, waits, failures, audits, []reason.Reason{reason.TimeChange})},
			What:   "Codes given to the refreshers: dirty ones, by the reason they were first marked with, and those that time alone changes (time_change).",
			Action: "For dirty codes the counterpart of rollcall.parks. A code that comes back for the same failure again and again: `rollcall dirty` shows how often it was marked. time_change follows shifts and midnights; none for a day, with schedules in use, means that records expect no change.",
		},
		{
			Name: nameLate, Prometheus: "rollcall_keeper_late_seconds", Kind: Histogram, Unit: "s",
			Buckets: []float64{1, 2, 5, 15, 60, 300, 1800, 7200},
			What:    "How long the code that had waited longest had been due, of each sweep that gave codes to the refreshers.",
			Action:  "Minutes after a midnight or an outage are right for a tenant with thousands of codes: docs/keeper.md has the arithmetic. Minutes at any other time: the pace (ROLLCALL_BUDGET_*) is below what is asked for, or no keeper worked for a while.",
		},
		{
			Name: nameMarked, Prometheus: "rollcall_keeper_marked_total", Kind: Counter, Unit: "{code}",
			What:   "Codes made dirty because an announced push was left without an outcome.",
			Action: "A few after a refresher died are right. A steady stream: refreshers die, or calls to WeCom end without an answer; see rollcall.pushes with outcome unknown.",
		},
	}
}

// Keeper records what a keeper does. Its methods are safe for concurrent use
// and neither block nor fail.
type Keeper struct {
	takeovers counter
	sweep     histogram
	released  counter
	late      histogram
	marked    counter

	meter metric.Meter
	lease metric.Int64ObservableUpDownCounter
}

// NewKeeper makes the instruments of the catalog.
func NewKeeper(meter metric.Meter) (*Keeper, error) {
	b := builder{meter: meter}
	k := &Keeper{
		takeovers: b.counter(nameTakeovers),
		sweep:     b.histogram(nameSweep),
		released:  b.counter(nameReleased),
		late:      b.histogram(nameLate),
		marked:    b.counter(nameMarked),
		meter:     meter,
	}
	k.lease, _ = b.upDownCounter(nameLease)
	if b.err != nil {
		return nil, fmt.Errorf("creating the keeper's metrics: %w", b.err)
	}
	return k, nil
}

// TookOver records that this keeper began to work, and how the lease became
// free.
func (k *Keeper) TookOver(ctx context.Context, opening string) { k.takeovers.add(ctx, opening, "") }

// Swept records how long a sweep took.
func (k *Keeper) Swept(ctx context.Context, sweep Sweep, took time.Duration) {
	k.sweep.record(ctx, took, string(sweep), "")
}

// Released records what one sweep gave to the refreshers: codes by reason, and
// how long one of them had been due at most.
func (k *Keeper) Released(ctx context.Context, codes map[reason.Reason]int, late time.Duration) {
	for why, n := range codes {
		k.released.addMany(ctx, n, why.String())
	}
	if len(codes) > 0 {
		k.late.record(ctx, late, "", "")
	}
}

// Marked records codes made dirty.
func (k *Keeper) Marked(ctx context.Context, codes int) { k.marked.addMany(ctx, codes, "") }

// ObserveLease has held asked whenever metrics are collected; it must be quick
// and safe to call from another goroutine. Call stop before what it looks at is
// gone.
func (k *Keeper) ObserveLease(held func() bool) (stop func() error, err error) {
	registration, err := k.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(k.lease, map[bool]int64{true: 1}[held()])
		return nil
	}, k.lease)
	if err != nil {
		return nil, fmt.Errorf("observing the lease: %w", err)
	}
	return registration.Unregister, nil
}

// addMany counts n at a time, of an instrument with one label or none.
func (c counter) addMany(ctx context.Context, n int, value string) {
	c.instrument.Add(ctx, int64(n), c.series.of(value, ""))
}
