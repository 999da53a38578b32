package intake

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/intake/desk"
	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// refresh brings one code up to its facts and settles its message.
func (in *Intake) refresh(ctx context.Context, work keyqueue.Work[message]) {
	ctx, span := in.startSpan(ctx, work)
	defer span.End()
	started := time.Now()
	ref := push.Ref{Tenant: work.Tenant, Code: work.Code}
	outcome := in.Refresher.Refresh(ctx, ref, func() { in.observe(work.Key) })
	ended := Ended{Duration: time.Since(started)}
	settled := in.settle(ctx, work, outcome)
	ended.Outcome = settled.Outcome
	if _, done := settled.Outcome.(push.Done); done {
		ended.Freshness, ended.Waited = time.Since(settled.PublishedAt), settled.Waited
	}
	in.report(ctx, work, settled.Outcome)
	kind, why := push.Describe(ended.Outcome)
	span.SetAttributes(attribute.String("rollcall.outcome", kind), attribute.String("rollcall.reason", why.String()))
	in.Observer.Ended(ctx, ended)
}

func (in *Intake) observe(key keyqueue.Key) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.desk.Observe(key)
}

// settle does what the desk makes of an outcome: a code that has to be dirty
// is marked first, and only then acked.
func (in *Intake) settle(ctx context.Context, work keyqueue.Work[message], outcome push.Outcome) desk.Settlement[message] {
	settled := in.settled(func(now time.Time) desk.Settlement[message] { return in.desk.Settle(work, outcome, now) })
	if settled.Mark != nil {
		mark := *settled.Mark
		err := in.Dirty.Mark(ctx, mark)
		settled = in.settled(func(now time.Time) desk.Settlement[message] {
			if err != nil {
				return in.desk.NotParked(work, err, now)
			}
			return in.desk.Parked(work, mark, now)
		})
	}
	if len(settled.Acks) > 0 {
		in.ack(settled.Acks)
	}
	return settled
}

// settled asks the desk, and wakes whoever its answer concerns.
func (in *Intake) settled(ask func(now time.Time) desk.Settlement[message]) desk.Settlement[message] {
	in.mu.Lock()
	defer in.mu.Unlock()
	settled := ask(time.Now())
	in.wake.Signal()
	in.rearmLocked()
	return settled
}

// report logs what a person may have to look at.
func (in *Intake) report(ctx context.Context, work keyqueue.Work[message], outcome push.Outcome) {
	switch out := outcome.(type) {
	case push.Park:
		in.opts.Logger.WarnContext(ctx, "code parked in the dirty set", "tenant", work.Tenant, "code", work.Code,
			"reason", out.Mark.Reason, "detail", out.Mark.Detail, "due", out.Mark.Due)
	case push.Fail:
		if ctx.Err() != nil {
			return // cancelled by the stop; the message goes to a sibling
		}
		trace.SpanFromContext(ctx).SetStatus(codes.Error, out.Class.String())
		in.opts.Logger.ErrorContext(ctx, "refresh failed", "tenant", work.Tenant, "code", work.Code,
			"reason", out.Class, "error", out.Err)
	case push.Done, push.Hold:
	}
}

// startSpan continues the producer's trace.
func (in *Intake) startSpan(ctx context.Context, work keyqueue.Work[message]) (context.Context, trace.Span) {
	ctx = in.opts.Propagator.Extract(ctx, propagation.MapCarrier(work.Message.trace))
	return in.opts.Tracer.Start(ctx, "process rollcall-refresh", trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			attribute.String("messaging.system", "pulsar"),
			attribute.String("messaging.operation.type", "process"),
			attribute.String("messaging.operation.name", "process"),
			attribute.String("messaging.message.id", work.Message.id.String()),
			attribute.String("rollcall.tenant", work.Tenant),
			attribute.String("rollcall.code", work.Code),
			attribute.String("rollcall.event.reason", work.Message.event.Reason),
		))
}
