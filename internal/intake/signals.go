package intake

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// The names under which a wait and an end are found, the same in a log line
// and, with "rollcall." before them, in a span.
const (
	keyTenant  = "tenant"
	keyCode    = "code"
	keyOutcome = "outcome"
	keyReason  = "reason"
	keyUntil   = "until" // of a hold
	keyDue     = "due"   // of a park
	keyMessage = "message"
	inSpan     = "rollcall."
)

// startSpan continues the producer's trace.
func (in *Intake) startSpan(ctx context.Context, work keyqueue.Work[message]) (context.Context, trace.Span) {
	ctx = in.opts.Propagator.Extract(ctx, propagation.MapCarrier(work.Message.trace))
	return in.opts.Tracer.Start(ctx, "process rollcall-refresh", trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			attribute.String("messaging.system", "pulsar"),
			attribute.String("messaging.operation.type", "process"),
			attribute.String("messaging.operation.name", "process"),
			attribute.String("messaging.message.id", work.Message.id.String()),
			attribute.String(inSpan+keyTenant, work.Tenant),
			attribute.String(inSpan+keyCode, work.Code),
			attribute.String("rollcall.event.reason", work.Message.event.Reason),
		))
}

// report puts the end of a refresh into its span and into one line of the log.
func (in *Intake) report(ctx context.Context, work keyqueue.Work[message], settled settlement) {
	kind, why := push.Describe(settled.Outcome)
	in.markSpan(ctx, settled)
	for range settled.Acks {
		in.Observer.Acked(ctx, why)
	}
	level := severity(ctx, settled.Outcome)
	if in.opts.Logger.Enabled(ctx, level) {
		in.opts.Logger.LogAttrs(ctx, level, "refresh ended", append([]slog.Attr{
			slog.String(keyTenant, work.Tenant), slog.String(keyCode, work.Code),
			slog.String(keyOutcome, kind), slog.String(keyReason, why.String()),
			slog.String(keyMessage, work.Message.id.String()),
		}, details(settled)...)...)
	}
	if settled.paced {
		in.tellPaced(ctx, work.Key, work.Message)
	}
}

// severity keeps a million events a day readable. What is as it should be, a
// push or a wait, is for whoever looks for it: the metrics have its number, and
// what a person has to know of at once is alerted on. A park is a wait that
// outlasts this process, a failure one that nobody could record; unless it is
// the stop that cancelled the refresh: its message goes to a sibling.
func severity(ctx context.Context, outcome push.Outcome) slog.Level {
	switch outcome.(type) {
	case push.Done, push.Hold:
		return slog.LevelDebug
	case push.Park:
		return slog.LevelWarn
	}
	if ctx.Err() != nil {
		return slog.LevelInfo
	}
	return slog.LevelError
}

// details are what only one kind of outcome has.
func details(settled settlement) []slog.Attr {
	var out []slog.Attr
	switch o := settled.Outcome.(type) {
	case push.Hold:
		out = append(out, slog.Time(keyUntil, o.Until))
	case push.Park:
		out = append(out, slog.Time(keyDue, o.Mark.Due), slog.String("detail", o.Mark.Detail))
	case push.Fail:
		out = append(out, slog.Any("error", o.Err))
	case push.Done:
	}
	if settled.Waited != "" {
		out = append(out, slog.String("waited_for", settled.Waited.String()))
	}
	if len(settled.Acks) > 0 {
		acked := make([]string, len(settled.Acks))
		for i, m := range settled.Acks {
			acked[i] = m.id.String()
		}
		out = append(out, slog.Any("acked", acked))
	}
	if settled.Again {
		out = append(out, slog.Bool("runs_again", true))
	}
	return out
}

// markSpan tells the trace how the refresh ended and what was acked for it.
func (in *Intake) markSpan(ctx context.Context, settled settlement) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	kind, why := push.Describe(settled.Outcome)
	span.SetAttributes(attribute.String(inSpan+keyOutcome, kind), attribute.String(inSpan+keyReason, why.String()))
	switch out := settled.Outcome.(type) {
	case push.Hold:
		span.SetAttributes(timeAttribute(inSpan+keyUntil, out.Until))
	case push.Park:
		span.SetAttributes(timeAttribute(inSpan+keyDue, out.Mark.Due))
	case push.Fail:
		if ctx.Err() == nil {
			span.SetStatus(codes.Error, out.Class.String())
		}
	case push.Done:
	}
	for _, m := range settled.Acks {
		span.AddEvent("ack", trace.WithAttributes(
			attribute.String("messaging.message.id", m.id.String()), attribute.String(inSpan+keyReason, why.String())))
	}
}

func timeAttribute(key string, at time.Time) attribute.KeyValue {
	return attribute.String(key, at.UTC().Format(time.RFC3339Nano))
}

// tellPaced tells of a code that pauses because it ran often just now: a hold
// that no refresh asked for.
func (in *Intake) tellPaced(ctx context.Context, key keyqueue.Key, m message) {
	in.Observer.Paced(ctx)
	in.tell(ctx, "hold", m, slog.String(keyTenant, key.Tenant), slog.String(keyCode, key.Code),
		slog.String(keyOutcome, "hold"), slog.String(keyReason, reason.Paced.String()), slog.Duration("at_most", maxPace))
}

// tellCoalesced tells of messages whose place another of their code took.
func (in *Intake) tellCoalesced(ctx context.Context, acked []message) {
	for _, m := range acked {
		in.Observer.Acked(ctx, reason.Coalesced)
		in.tell(ctx, "ack", m, slog.String(keyTenant, m.event.Tenant), slog.String(keyCode, m.event.Code),
			slog.String(keyOutcome, "done"), slog.String(keyReason, reason.Coalesced.String()))
	}
}

// tellReturned tells of messages that went back to the broker.
func (in *Intake) tellReturned(ctx context.Context, messages []returned) {
	for _, m := range messages {
		in.Observer.Nacked(ctx, m.why)
		in.tell(ctx, "nack", m.message, slog.String(keyTenant, m.event.Tenant), slog.String(keyCode, m.event.Code),
			slog.String(keyOutcome, "nack"), slog.String(keyReason, m.why.String()), slog.String("waited_for", m.waited.String()))
	}
}

// tell logs what happened to a message outside of a refresh, and puts it as a
// short span into the trace that the message belongs to. A message without a
// trace gets none: it would stand alone.
func (in *Intake) tell(ctx context.Context, operation string, m message, attrs ...slog.Attr) {
	if len(m.trace) > 0 {
		ctx = in.opts.Propagator.Extract(ctx, propagation.MapCarrier(m.trace))
		var span trace.Span
		ctx, span = in.opts.Tracer.Start(ctx, operation+" rollcall-refresh", trace.WithAttributes(
			attribute.String("messaging.system", "pulsar"),
			attribute.String("messaging.operation.type", "settle"),
			attribute.String("messaging.operation.name", operation),
			attribute.String("messaging.message.id", m.id.String())))
		defer span.End()
		for _, a := range attrs {
			span.SetAttributes(attribute.String(inSpan+a.Key, a.Value.String()))
		}
	}
	if in.opts.Logger.Enabled(ctx, slog.LevelDebug) {
		in.opts.Logger.LogAttrs(ctx, slog.LevelDebug, "settled without a refresh", append(attrs, slog.String(keyMessage, m.id.String()))...)
	}
}
