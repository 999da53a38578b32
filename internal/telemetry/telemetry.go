package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/config"
)

// Telemetry is what a process reports with. Its owner calls [Telemetry.Shutdown]
// last, so that nothing that was recorded is lost.
type Telemetry struct {
	Log        *slog.Logger
	Meters     metric.MeterProvider
	Tracers    trace.TracerProvider          // records nothing unless OTEL_ variables ask for it
	Propagator propagation.TextMapPropagator // W3C trace context and baggage
	// Registerer takes the metrics of libraries that speak Prometheus (the
	// Pulsar client). They appear at /metrics, and at the OTLP endpoint when
	// there is one.
	Registerer prometheus.Registerer

	metrics http.Handler
	stops   []func(context.Context) error
}

// Setup builds the telemetry of a process. role is the subcommand, version the
// build's. Logs go to standard error. Metrics are always there for Prometheus;
// traces, and metrics over OTLP, follow OpenTelemetry's OTEL_ variables. ctx
// bounds the creation of exporters only.
func Setup(ctx context.Context, cfg config.Telemetry, role, version string) (*Telemetry, error) {
	return setup(ctx, cfg, os.Stderr, role, version)
}

func setup(ctx context.Context, cfg config.Telemetry, logTo io.Writer, role, version string) (*Telemetry, error) {
	res, err := describe(ctx, role, version)
	if err != nil {
		return nil, fmt.Errorf("describing this process to OpenTelemetry: %w", err)
	}
	t := &Telemetry{
		Log:        NewLogger(logTo, cfg).With("role", role, "version", version),
		Propagator: propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}),
	}
	if err := t.meter(ctx, res); err != nil {
		return nil, errors.Join(err, t.Shutdown(ctx))
	}
	if err := t.trace(ctx, res); err != nil {
		return nil, errors.Join(err, t.Shutdown(ctx))
	}
	return t, nil
}

// describe names the process; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
// overrule it.
func describe(ctx context.Context, role, version string) (*resource.Resource, error) {
	return resource.New(ctx,
		resource.WithAttributes(
			attribute.String("service.namespace", "rollcall"),
			attribute.String("service.name", "rollcall-"+role),
			attribute.String("service.version", version),
		),
		resource.WithHost(),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(),
	)
}

// Install makes t the default of the whole process, for libraries that ask for
// slog's or OpenTelemetry's. Only a main does that.
func (t *Telemetry) Install() {
	slog.SetDefault(t.Log)
	otel.SetMeterProvider(t.Meters)
	otel.SetTracerProvider(t.Tracers)
	otel.SetTextMapPropagator(t.Propagator)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		t.Log.Warn("telemetry could not be exported", "error", err)
	}))
}

// MetricsHandler serves all metrics of the process to Prometheus.
func (t *Telemetry) MetricsHandler() http.Handler { return t.metrics }

// Shutdown sends what is recorded and not yet exported, and stops the
// exporters. It returns when that is done or ctx ends.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	var failed error
	for _, stop := range t.stops {
		failed = errors.Join(failed, stop(ctx))
	}
	t.stops = nil
	if failed != nil {
		return fmt.Errorf("shutting telemetry down: %w", failed)
	}
	return nil
}
