package intake

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// maxGraves bounds the poison messages that wait for the dead-letter topic.
const maxGraves = 256

// queueBurial hands a poison message to the one goroutine that stores dead
// letters, so that neither a flood of them nor a dead-letter topic that hangs
// stops the intake. When too many wait already, the message goes back to the
// broker and comes again.
func (in *Intake) queueBurial(ctx context.Context, d Delivery) {
	select {
	case in.graves <- d:
	default:
		in.Subscription.Nack(d.ID)
		in.Observer.Nacked(ctx, d.Poison.Cause)
		in.opts.Logger.DebugContext(ctx, "message given back: too many dead letters wait to be stored",
			keyMessage, d.ID.String(), keyOutcome, "nack", keyReason, d.Poison.Cause.String())
	}
}

func (in *Intake) buryAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-in.graves:
			in.bury(ctx, d)
		}
	}
}

// bury stores a dead letter; until that succeeds its message stays un-acked
// and comes back.
func (in *Intake) bury(ctx context.Context, d Delivery) {
	ctx, span := in.startBurial(ctx, d)
	defer span.End()
	log := in.opts.Logger.With(keyMessage, d.ID.String(), "key", d.Key, keyReason, d.Poison.Cause.String(), "detail", d.Poison.Detail)
	if err := in.Subscription.DeadLetter(ctx, d); err != nil {
		in.Subscription.Nack(d.ID)
		in.Observer.Nacked(ctx, d.Poison.Cause)
		endBurial(span, "nack")
		span.SetStatus(codes.Error, "dead letter not stored")
		log.LogAttrs(ctx, slog.LevelError, "dead letter not stored, the message will come back", slog.String(keyOutcome, "nack"), slog.Any("error", err))
		return
	}
	in.Subscription.Ack(d.ID)
	in.Observer.Acked(ctx, d.Poison.Cause)
	in.Observer.DeadLettered(ctx, d.Poison.Cause)
	endBurial(span, "dead_letter")
	log.LogAttrs(ctx, slog.LevelWarn, "dead letter stored", slog.String(keyOutcome, "dead_letter"), slog.Any("acked", []string{d.ID.String()}))
}

// startBurial continues the producer's trace, as far as the message has one.
func (in *Intake) startBurial(ctx context.Context, d Delivery) (context.Context, trace.Span) {
	ctx = in.opts.Propagator.Extract(ctx, propagation.MapCarrier(d.Trace))
	return in.opts.Tracer.Start(ctx, "dead-letter rollcall-refresh", trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			attribute.String("messaging.system", "pulsar"),
			attribute.String("messaging.operation.type", "settle"),
			attribute.String("messaging.operation.name", "dead-letter"),
			attribute.String("messaging.message.id", d.ID.String()),
			attribute.String(inSpan+keyReason, d.Poison.Cause.String()),
		))
}

func endBurial(span trace.Span, outcome string) {
	span.SetAttributes(attribute.String(inSpan+keyOutcome, outcome))
}
