package intake

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// refresh brings one code up to its facts and settles its message.
func (in *Intake) refresh(ctx context.Context, work keyqueue.Work[message]) {
	ctx, span := in.startSpan(ctx, work)
	defer span.End()
	started := time.Now()
	ref := push.Ref{Tenant: work.Tenant, Code: work.Code}
	outcome := in.Refresher.Refresh(ctx, ref, func() { in.observe(work.Key) })
	ended := Ended{Duration: time.Since(started)}
	switch out := outcome.(type) {
	case push.Done:
		in.done(work, out, &ended)
	case push.Hold:
		in.hold(ctx, work, out, &ended)
	case push.Park:
		in.park(ctx, work, out.Mark, &ended)
	case push.Fail:
		in.fail(ctx, work, out, &ended)
	}
	kind, why := push.Describe(ended.Outcome)
	span.SetAttributes(attribute.String("rollcall.outcome", kind), attribute.String("rollcall.reason", why.String()))
	in.Observer.Ended(ctx, ended)
}

func (in *Intake) observe(key keyqueue.Key) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.queue.Observe(key)
}

func (in *Intake) done(work keyqueue.Work[message], out push.Done, ended *Ended) {
	ended.Outcome = out
	end := in.end(work.Key, in.queue.Done)
	ended.Freshness = time.Since(end.PublishedAt)
	ended.Waited = end.Waited
}

// end takes a code out of work and acks what is done with.
func (in *Intake) end(key keyqueue.Key, how func(keyqueue.Key, time.Time) keyqueue.Ending[message]) keyqueue.Ending[message] {
	in.mu.Lock()
	end := how(key, time.Now())
	in.wake.Signal()
	in.rearmLocked()
	in.mu.Unlock()
	if len(end.Acks) > 0 {
		in.ack(end.Acks)
	}
	return end
}

// hold lets the code wait here, or in the dirty set when too many do already.
func (in *Intake) hold(ctx context.Context, work keyqueue.Work[message], out push.Hold, ended *Ended) {
	wait := keyqueue.Wait{Until: out.Until, Cause: out.Cause, Firm: out.Cause.Firm()}
	if in.tryHold(work.Key, wait) {
		ended.Outcome = out
		return
	}
	mark := push.Mark{
		Ref:    push.Ref{Tenant: work.Tenant, Code: work.Code},
		Reason: reason.Overflow,
		Detail: "too many codes are held; this one waits for: " + out.Cause.String(),
		Due:    out.Until,
	}
	in.park(ctx, work, mark, ended)
}

func (in *Intake) tryHold(key keyqueue.Key, wait keyqueue.Wait) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.queue.Held() >= in.opts.MaxHeld {
		return false
	}
	in.holdLocked(key, wait)
	return true
}

func (in *Intake) holdLocked(key keyqueue.Key, wait keyqueue.Wait) {
	in.queue.Hold(key, wait, time.Now())
	in.wake.Signal()
	in.rearmLocked()
}

// park makes the code dirty and only then acks. A dirty set that cannot be
// written leaves the code held.
func (in *Intake) park(ctx context.Context, work keyqueue.Work[message], mark push.Mark, ended *Ended) {
	if err := in.Dirty.Mark(ctx, mark); err != nil {
		in.fail(ctx, work, push.Fail{Class: reason.StoreDown, Err: err}, ended)
		return
	}
	ended.Outcome = push.Park{Mark: mark}
	in.end(work.Key, in.queue.Park)
	in.opts.Logger.WarnContext(ctx, "code parked in the dirty set",
		"tenant", work.Tenant, "code", work.Code, "reason", mark.Reason, "detail", mark.Detail, "due", mark.Due)
}

// fail holds a code whose failure nobody could record. It is held even beyond
// MaxHeld: there is no other place for it.
func (in *Intake) fail(ctx context.Context, work keyqueue.Work[message], out push.Fail, ended *Ended) {
	if out.Class == reason.Panicked && work.Message.redeliveries >= in.maxPanics() {
		in.park(ctx, work, in.panicked(work, out), ended)
		return
	}
	ended.Outcome = out
	wait := in.stumble(work.Message)
	wait.Cause = out.Class
	in.mu.Lock()
	in.holdLocked(work.Key, wait)
	in.mu.Unlock()
	if ctx.Err() != nil {
		return // cancelled by the stop; the message goes to a sibling
	}
	span := trace.SpanFromContext(ctx)
	span.SetStatus(codes.Error, out.Class.String())
	in.opts.Logger.ErrorContext(ctx, "refresh failed",
		"tenant", work.Tenant, "code", work.Code, "reason", out.Class, "error", out.Err)
}

func (in *Intake) maxPanics() uint32 { return uint32(max(in.opts.MaxFailures, 1)) }

// panicked is the mark of a code that panics again and again: a bug that only
// a new build helps.
func (in *Intake) panicked(work keyqueue.Work[message], out push.Fail) push.Mark {
	return push.Mark{
		Ref:    push.Ref{Tenant: work.Tenant, Code: work.Code},
		Reason: reason.Panicked,
		Detail: out.Err.Error(),
		Due:    time.Now().Add(time.Hour),
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
