package metrics

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/metric"
)

const (
	nameTop   = "rollcall.backlog.top"
	nameLoad  = "rollcall.refresher.load"
	nameLimit = "rollcall.budget.limit"
	nameRoom  = "rollcall.backlog.limit"
)

// Ranks is how many tenants the metrics rank.
const Ranks = 10

// ranks are the values of the rank's label: "01" is the tenant with most codes.
// They have two digits so that they sort as numbers do.
func ranks() []string {
	values := make([]string, Ranks)
	for i := range values {
		values[i] = fmt.Sprintf("%02d", i+1)
	}
	return values
}

// loads are about how much there is to do, and how much may be done.
func loads() []Instrument {
	return []Instrument{
		{
			Name: nameTop, Prometheus: "rollcall_backlog_top", Kind: Gauge, Unit: "{code}",
			Labels: []Label{{"rank", ranks()}},
			What:   "Codes, waiting for a worker or held, of the tenants that have most of them in this process, by rank. Which tenants these are is no label: `GET /backlog` at the same address says it.",
			Action: "Rank 1 far above the others: one tenant's storm, which does not hold up the others. All ranks high: a common cause, such as WeCom or a store.",
		},
		{
			Name: nameLoad, Prometheus: "rollcall_refresher_load", Kind: Gauge, Unit: "{ratio}",
			What:   "The share of this process's workers that the codes at hand could keep busy now: those in work and those that wait for a worker, of each tenant at most as many as may be in work at once. Held codes do not count. Above 1 there is work for more instances.",
			Action: "What to scale on: docs/operations/autoscaling.md. Above 1 for minutes with freshness suffering: more refreshers, unless MongoDB, Redis or WeCom is slow (rollcall.refresh.duration): then more refreshers make it worse.",
		},
		{
			Name: nameRoom, Prometheus: "rollcall_backlog_limit", Kind: Gauge, Unit: "{code}",
			What:   "Codes that may be here at once, in line, in work and held (ROLLCALL_REFRESHER_MAX_HELD less what is fetched ahead); three quarters of them may be held.",
			Action: "To be set against rollcall.backlog: beyond three quarters codes overflow into the dirty set. That loses nothing; all the time, it asks for more refreshers or a larger limit.",
		},
		{
			Name: nameLimit, Prometheus: "rollcall_budget_limit", Kind: Gauge, Unit: "{call}",
			Labels: []Label{{"scope", []string{"tenant", "ip"}}, {"window", []string{"minute", "hour"}}},
			What:   "Calls of one API that WeCom allows a tenant, and an IP address, in its short and in its long window, as configured.",
			Action: "To be set against rollcall.pushes: an IP address near its hour is the moment for a second one.",
		},
	}
}

// Load is how much a refresher has to do at one moment.
type Load struct {
	Top   []int   // codes of the tenants with most of them, most first; at most Ranks
	Share float64 // of the workers that these could keep busy
}

// Limits are the calls that WeCom allows, and the codes that a process may have.
type Limits struct {
	TenantMinute, TenantHour, IPMinute, IPHour int
	Codes                                      int
}

// loadGauges are read off the queue when metrics are collected.
type loadGauges struct {
	top   metric.Int64ObservableGauge
	rank  series
	share metric.Float64ObservableGauge
	limit metric.Int64ObservableGauge
	of    series
	room  metric.Int64ObservableGauge
}

func (b *builder) loadGauges() loadGauges {
	return loadGauges{
		top: b.gauge(nameTop), rank: newSeries(b.find(nameTop).Labels),
		share: b.fraction(nameLoad),
		limit: b.gauge(nameLimit), of: newSeries(b.find(nameLimit).Labels),
		room: b.gauge(nameRoom),
	}
}

// ObserveLoad has read asked whenever metrics are collected; it must be quick and
// safe to call from another goroutine. Call stop before what it looks at is gone.
func (r *Refresher) ObserveLoad(limits Limits, read func() Load) (stop func() error, err error) {
	registration, err := r.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		r.load.observe(o, read())
		r.load.observeLimits(o, limits)
		return nil
	}, r.load.top, r.load.share, r.load.limit, r.load.room)
	if err != nil {
		return nil, fmt.Errorf("observing the load: %w", err)
	}
	return registration.Unregister, nil
}

// observe reports every rank, so that one that nobody has any more falls to zero.
func (g loadGauges) observe(o metric.Observer, now Load) {
	for i, rank := range ranks() {
		codes := 0
		if i < len(now.Top) {
			codes = now.Top[i]
		}
		o.ObserveInt64(g.top, int64(codes), g.rank.of(rank, ""))
	}
	o.ObserveFloat64(g.share, now.Share)
}

func (g loadGauges) observeLimits(o metric.Observer, l Limits) {
	o.ObserveInt64(g.limit, int64(l.TenantMinute), g.of.of("tenant", "minute"))
	o.ObserveInt64(g.limit, int64(l.TenantHour), g.of.of("tenant", "hour"))
	o.ObserveInt64(g.limit, int64(l.IPMinute), g.of.of("ip", "minute"))
	o.ObserveInt64(g.limit, int64(l.IPHour), g.of.of("ip", "hour"))
	o.ObserveInt64(g.room, int64(l.Codes))
}

func (b *builder) gauge(name string) metric.Int64ObservableGauge {
	i := b.find(name)
	instrument, err := b.meter.Int64ObservableGauge(name, metric.WithUnit(i.Unit), metric.WithDescription(i.What))
	b.err = errors.Join(b.err, err)
	return instrument
}

// fraction makes a gauge of something that is not counted in whole numbers.
func (b *builder) fraction(name string) metric.Float64ObservableGauge {
	i := b.find(name)
	instrument, err := b.meter.Float64ObservableGauge(name, metric.WithUnit(i.Unit), metric.WithDescription(i.What))
	b.err = errors.Join(b.err, err)
	return instrument
}
