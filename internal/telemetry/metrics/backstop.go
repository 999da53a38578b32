package metrics

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

const (
	nameSettled     = "rollcall.dirty.settled"
	nameDirty       = "rollcall.dirty.codes"
	nameDirtyOldest = "rollcall.dirty.oldest"
	nameAuditLooks  = "rollcall.audit.looks"
	nameAuditWalk   = "rollcall.audit.pass"
)

// What became of a dirty code that was published and looked at.
const (
	SettledAgreed   = "agreed"
	SettledWaiting  = "waiting"
	SettledRepeated = "repeated"
)

// audited are the results of the audit's looks that are differences.
var audited = []reason.Reason{
	reason.Stale, reason.NeverPushed, reason.RecordLies, reason.SetMissing, reason.SetDiffers, reason.Unsettled,
	reason.InvalidFacts, reason.UnknownTenant, reason.UnknownCode, reason.WrongTenant, reason.RecordOrphaned, reason.SetOrphaned,
}

// mending is about the dirty set and the audit.
func mending() []Instrument {
	return []Instrument{
		{
			Name: nameDirty, Prometheus: "rollcall_dirty_codes", Kind: UpDownCounter, Unit: "{code}",
			Labels: []Label{label("reason", nil, waits, failures, empties, audits)},
			What:   "Codes in the dirty set, by the reason they were first marked with, as the keeper at work counted them last (ROLLCALL_KEEPER_CENSUS).",
			Action: "throttled and overflow follow storms and go down at the tenants' pace. Failures that stay, and stale that grows, need a person: `rollcall dirty list --reason`, then docs/backstop.md.",
		},
		{
			Name: nameDirtyOldest, Prometheus: "rollcall_dirty_oldest_seconds", Kind: UpDownCounter, Unit: "s",
			Labels: []Label{label("reason", nil, waits, failures, empties, audits)},
			What:   "How long ago the oldest of these codes was first marked.",
			Action: "Hours for a reason that is not a wait: nobody has dealt with it. `rollcall dirty show` says what is in the way.",
		},
		{
			Name: nameSettled, Prometheus: "rollcall_dirty_settled_total", Kind: Counter, Unit: "{code}",
			Labels: []Label{{"result", []string{SettledAgreed, SettledWaiting, SettledRepeated, Other}}},
			What:   "Dirty codes that were published and looked at: out of the set because they agree, still waiting for a slot or a lane, or published again.",
			Action: "repeated at the pace of agreed: refreshes end without what the facts ask for; the log names the codes.",
		},
		{
			Name: nameAuditLooks, Prometheus: "rollcall_audit_looks_total", Kind: Counter, Unit: "{code}",
			Labels: []Label{label("result", []string{"agrees", "shadowed", "waits"}, audited)},
			What:   "Codes that the audit compared with their facts, by what it found. A difference that somebody is known to come back to counts as waits.",
			Action: "set_missing and record_lies are zero in a sound system, and so is stale outside a storm: each is an event that was lost or a refresh that decides wrongly. In a storm a code whose event stands in line for longer than ROLLCALL_AUDIT_BOUND is stale too, and heals. The log and `rollcall dirty list` name the codes. None at all for an hour: no keeper walks.",
		},
		{
			Name: nameAuditWalk, Prometheus: "rollcall_audit_pass_seconds", Kind: Histogram, Unit: "s",
			Buckets: []float64{60, 600, 3600, 7200, 14400, 28800, 57600, 115200},
			What:    "How long a pass of the audit over all codes took.",
			Action:  "This is how long a lost event can stay unnoticed. Longer than you can accept: raise ROLLCALL_AUDIT_RATE or run more keepers; `rollcall audit estimate` has the arithmetic.",
		},
	}
}

// Backstop records what the keeper's mending and its audit do. Its methods are
// safe for concurrent use and neither block nor fail.
type Backstop struct {
	settled counter
	looks   counter
	pass    histogram

	meter         metric.Meter
	codes, oldest metric.Int64ObservableUpDownCounter
	byReason      series
}

// NewBackstop makes the instruments of the catalog.
func NewBackstop(meter metric.Meter) (*Backstop, error) {
	b := builder{meter: meter}
	m := &Backstop{settled: b.counter(nameSettled), looks: b.counter(nameAuditLooks), pass: b.histogram(nameAuditWalk), meter: meter}
	m.codes, m.byReason = b.upDownCounter(nameDirty)
	m.oldest, _ = b.upDownCounter(nameDirtyOldest)
	if b.err != nil {
		return nil, fmt.Errorf("creating the backstop's metrics: %w", b.err)
	}
	return m, nil
}

// Settled records dirty codes that were looked at.
func (b *Backstop) Settled(ctx context.Context, result string, codes int) {
	if codes > 0 {
		b.settled.addMany(ctx, codes, result)
	}
}

// Looked records one look of the audit: "agrees", "shadowed", "waits", or what
// differs.
func (b *Backstop) Looked(ctx context.Context, result string) { b.looks.add(ctx, result, "") }

// Passed records a pass of the audit that has ended.
func (b *Backstop) Passed(ctx context.Context, took time.Duration) { b.pass.record(ctx, took, "", "") }

// DirtyCount is what the dirty set holds for one reason.
type DirtyCount struct {
	Reason reason.Reason
	Codes  int
	Oldest time.Duration // since its oldest was first marked
}

// ObserveDirty has census asked whenever metrics are collected; it must be quick
// and safe to call from another goroutine. Call stop before what it looks at is
// gone.
func (b *Backstop) ObserveDirty(census func() []DirtyCount) (stop func() error, err error) {
	registration, err := b.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, c := range census() {
			of := b.byReason.of(c.Reason.String(), "")
			o.ObserveInt64(b.codes, int64(c.Codes), of)
			o.ObserveInt64(b.oldest, int64(c.Oldest/time.Second), of)
		}
		return nil
	}, b.codes, b.oldest)
	if err != nil {
		return nil, fmt.Errorf("observing the dirty set: %w", err)
	}
	return registration.Unregister, nil
}
