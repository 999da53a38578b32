package telemetry

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"
)

// Silent reports nothing. It is for commands that answer and end.
func Silent() *Telemetry {
	return &Telemetry{
		Log:        slog.New(slog.DiscardHandler),
		Meters:     metricnoop.NewMeterProvider(),
		Tracers:    noop.NewTracerProvider(),
		Propagator: propagation.TraceContext{},
		Registerer: prometheus.NewRegistry(),
	}
}
