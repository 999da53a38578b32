package service

import (
	"context"
	"errors"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// observer turns what the intake tells into metrics.
type observer struct{ *metrics.Refresher }

func (o observer) Ended(ctx context.Context, e intake.Ended) {
	o.Refreshed(ctx, e.Outcome, e.Duration)
	if fresh, is := freshOf(e); is {
		o.Fresh(ctx, fresh)
	}
	if out, is := e.Outcome.(push.Park); is {
		o.Parked(ctx, out.Mark.Reason)
	}
}

// freshOf is what a push says of freshness; false when there was none.
func freshOf(e intake.Ended) (metrics.Freshness, bool) {
	out, done := e.Outcome.(push.Done)
	if !done || out.Reason != reason.Pushed {
		return metrics.Freshness{}, false
	}
	return metrics.Freshness{Age: e.Freshness, Slow: out.Slow, Throttled: e.Waited == reason.Throttled}, true
}

// backlog reads the intake's numbers for the metrics.
func backlog(stats keyqueue.Stats) metrics.Backlog {
	return metrics.Backlog{Runnable: stats.Ready, InFlight: stats.InFlight, Held: stats.ByCause}
}

// observe lets the metrics ask the intake and the broker when they are
// collected, until stop.
func (r *refresher) observe() (stop func(context.Context) error, err error) {
	stopBacklog, err := r.metrics.ObserveBacklog(func() metrics.Backlog { return backlog(r.intake.Stats()) })
	if err != nil {
		return nil, err
	}
	stopBroker, err := r.metrics.ObserveBroker(func() metrics.Broker { return metrics.Broker(r.bus.Counters()) })
	if err != nil {
		return nil, errors.Join(err, stopBacklog())
	}
	stopLoad, err := r.metrics.ObserveLoad(limits(r.cfg), func() metrics.Load { return load(r.intake.Tenants(), r.cfg.Refresher.Workers) })
	if err != nil {
		return nil, errors.Join(err, stopBacklog(), stopBroker())
	}
	return func(context.Context) error { return errors.Join(stopBacklog(), stopBroker(), stopLoad()) }, nil
}

// endOf is how a call ended: its error, if WeCom or the way to it has one, and its
// class, "" of a call that WeCom took. False is one that a circuit breaker stopped:
// it was none, and counted beside the others it would hide how many of them fail.
func endOf(err error) (failed *push.CallError, class reason.Reason, made bool) {
	failed, is := errors.AsType[*push.CallError](err)
	if is {
		class = push.Classify(failed)
	}
	return failed, class, class != reason.BreakerOpen
}

// observedVendor counts the calls by what became of them.
type observedVendor struct {
	push.Vendor
	metrics *metrics.Refresher
}

func (v observedVendor) Update(ctx context.Context, call push.Call) error {
	err := v.Vendor.Update(ctx, call)
	failed, class, made := endOf(err)
	switch {
	case !made:
	case failed == nil:
		v.metrics.Pushed(ctx, metrics.Applied, class)
	case failed.Unknown:
		v.metrics.Pushed(ctx, metrics.Unknown, class)
	default:
		v.metrics.Pushed(ctx, metrics.Refused, class)
	}
	return err
}

// observedBudget counts the refusals by cause.
type observedBudget struct {
	push.Budget
	metrics *metrics.Refresher
}

func (b observedBudget) Admit(ctx context.Context, ask push.Ask) (push.Admission, error) {
	admission, err := b.Budget.Admit(ctx, ask)
	if err == nil && !admission.Granted {
		b.metrics.BudgetRefused(ctx, admission.Cause)
	}
	return admission, err
}
