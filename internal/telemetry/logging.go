package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/config"
)

// NewLogger writes JSON or text to w. Every record that is logged with a
// context carries its trace_id and span_id, at the top level even in a group;
// no record carries a secret (see [Scrub]).
func NewLogger(w io.Writer, cfg config.Telemetry) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.LogLevel, ReplaceAttr: scrubAttr}
	var plain slog.Handler = slog.NewJSONHandler(w, options)
	if cfg.LogFormat == "text" {
		plain = slog.NewTextHandler(w, options)
	}
	return slog.New(&traceHandler{plain: plain, bound: plain})
}

// traceHandler puts the span of the context into a record. Attributes added in
// Handle would end up in the innermost group, so the groups and attributes of
// the logger are kept as steps and taken again behind the span's IDs.
type traceHandler struct {
	plain slog.Handler // before any step
	bound slog.Handler // after all of them
	steps []func(slog.Handler) slog.Handler
}

// Enabled reports whether a record of the level would be written.
func (h *traceHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.bound.Enabled(ctx, level)
}

// Handle writes the record.
func (h *traceHandler) Handle(ctx context.Context, record slog.Record) error {
	span := trace.SpanContextFromContext(ctx)
	if !span.IsValid() {
		return h.bound.Handle(ctx, record)
	}
	traced := h.plain.WithAttrs([]slog.Attr{
		slog.String("trace_id", span.TraceID().String()),
		slog.String("span_id", span.SpanID().String()),
	})
	for _, step := range h.steps {
		traced = step(traced)
	}
	return traced.Handle(ctx, record)
}

// WithAttrs returns a handler whose records carry attrs too.
func (h *traceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(func(next slog.Handler) slog.Handler { return next.WithAttrs(attrs) })
}

// WithGroup returns a handler whose further attributes are in the group.
func (h *traceHandler) WithGroup(name string) slog.Handler {
	return h.with(func(next slog.Handler) slog.Handler { return next.WithGroup(name) })
}

func (h *traceHandler) with(step func(slog.Handler) slog.Handler) slog.Handler {
	return &traceHandler{plain: h.plain, bound: step(h.bound), steps: append(slices.Clip(h.steps), step)}
}

// scrapeErrors gives promhttp a logger.
type scrapeErrors struct{ log *slog.Logger }

// Println logs one failure of a collector.
func (s scrapeErrors) Println(v ...any) {
	s.log.Warn("metrics could not be gathered", "error", fmt.Sprint(v...))
}
