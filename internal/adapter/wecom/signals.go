package wecom

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/push"
)

const scope = "github.com/rollcall-dev/rollcall/internal/adapter/wecom"

// signals makes the spans and metrics. They are made here and not by otelhttp,
// which records the full URL, and WeCom's token travels in the query.
type signals struct {
	tracer      trace.Tracer
	target      []attribute.KeyValue
	prefix      string
	duration    metric.Float64Histogram
	storeFails  metric.Int64Counter
	transitions metric.Int64Counter
}

func newSignals(tracers trace.TracerProvider, meters metric.MeterProvider, base *url.URL) (*signals, error) {
	if tracers == nil {
		tracers = otel.GetTracerProvider()
	}
	if meters == nil {
		meters = otel.GetMeterProvider()
	}
	meter := meters.Meter(scope)
	duration, err1 := meter.Float64Histogram("rollcall.wecom.call.duration",
		metric.WithUnit("s"),
		metric.WithDescription("Time of one exchange with WeCom, by API and class of its outcome."),
		metric.WithExplicitBucketBoundaries(.01, .025, .05, .1, .2, .4, .8, 1.6, 3.2, 6.4, 12.8))
	storeFails, err2 := meter.Int64Counter("rollcall.wecom.token_store.failures",
		metric.WithDescription("Operations on the shared token store that failed; the instance went on alone."), metric.WithUnit("{operation}"))
	transitions, err3 := meter.Int64Counter("rollcall.wecom.breaker.transitions",
		metric.WithDescription("Changes of a circuit breaker's state, by scope (tenant or vendor) and new state."), metric.WithUnit("{transition}"))
	return &signals{
		tracer:      tracers.Tracer(scope),
		target:      targetOf(base),
		prefix:      base.Path,
		duration:    duration,
		storeFails:  storeFails,
		transitions: transitions,
	}, errors.Join(err1, err2, err3)
}

func targetOf(base *url.URL) []attribute.KeyValue {
	target := []attribute.KeyValue{attribute.String("server.address", base.Hostname())}
	port, err := strconv.Atoi(base.Port())
	if err != nil {
		port = map[string]int{"http": 80, "https": 443}[base.Scheme]
	}
	return append(target, attribute.Int("server.port", port))
}

// start opens the client span of an exchange and returns what ends it.
func (s *signals) start(ctx context.Context, x exchange) (context.Context, func(int, *push.CallError)) {
	method := http.MethodPost
	if x.body == nil {
		method = http.MethodGet
	}
	began := time.Now()
	ctx, span := s.tracer.Start(ctx, "wecom "+x.op,
		trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(s.target...),
		trace.WithAttributes(
			attribute.String("http.request.method", method),
			attribute.String("url.path", s.prefix+x.path),
			attribute.String("rollcall.tenant", x.tenant),
		))
	return ctx, func(httpStatus int, callErr *push.CallError) {
		class := classOf(callErr)
		s.duration.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(
			attribute.String("op", x.op), attribute.String("class", class)))
		describe(span, httpStatus, class, callErr)
		span.End()
	}
}

// describe puts the outcome on a span. The error's text was cleaned when the
// error was made.
func describe(span trace.Span, httpStatus int, class string, callErr *push.CallError) {
	if httpStatus != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", httpStatus))
	}
	if callErr == nil {
		return
	}
	span.SetAttributes(
		attribute.String("error.type", class),
		attribute.Int("wecom.errcode", callErr.ErrCode),
		attribute.Bool("rollcall.outcome_unknown", callErr.Unknown))
	span.SetStatus(codes.Error, callErr.Error())
}

func (s *signals) storeFailed(ctx context.Context, operation string) {
	s.storeFails.Add(ctx, 1, metric.WithAttributes(attribute.String("operation", operation)))
}

func (s *signals) breakerTurned(ctx context.Context, scope, state string) {
	s.transitions.Add(ctx, 1, metric.WithAttributes(
		attribute.String("scope", scope), attribute.String("state", state)))
}
