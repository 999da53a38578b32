package telemetry

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	prometheusbridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	prometheusexporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// meter builds the meter provider: a reader that Prometheus asks, always, and
// one that pushes, when the environment names one.
//
// There are two registries. Libraries register with one, OpenTelemetry's
// exporter with the other; so the pushing reader can be fed with the former
// without seeing its own instruments twice.
func (t *Telemetry) meter(ctx context.Context, res *resource.Resource) error {
	libraries, own := prometheus.NewRegistry(), prometheus.NewRegistry()
	libraries.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	scraped, err := prometheusexporter.New(prometheusexporter.WithRegisterer(own), prometheusexporter.WithoutScopeInfo())
	if err != nil {
		return fmt.Errorf("creating the Prometheus exporter: %w", err)
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(res), sdkmetric.WithReader(scraped)}
	if asked("OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") {
		pushed, err := pushingReader(ctx, libraries)
		if err != nil {
			return fmt.Errorf("creating the metrics exporter that OTEL_METRICS_EXPORTER and OTEL_EXPORTER_OTLP_* ask for: %w", err)
		}
		options = append(options, sdkmetric.WithReader(pushed))
	}
	provider := sdkmetric.NewMeterProvider(options...)
	t.Meters, t.Registerer = provider, libraries
	t.stops = append(t.stops, provider.Shutdown)
	t.metrics = promhttp.HandlerFor(prometheus.Gatherers{own, libraries}, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError, // one bad collector must not hide the others
		ErrorLog:            scrapeErrors{t.Log},
		EnableOpenMetrics:   true,
		MaxRequestsInFlight: 4,
		Timeout:             10 * time.Second,
	})
	return nil
}

// pushingReader lets autoexport choose by the environment.
func pushingReader(ctx context.Context, libraries prometheus.Gatherer) (sdkmetric.Reader, error) {
	autoexport.WithFallbackMetricProducer(func(context.Context) (sdkmetric.Producer, error) {
		return prometheusbridge.NewMetricProducer(prometheusbridge.WithGatherer(libraries)), nil
	})
	return autoexport.NewMetricReader(ctx)
}

// trace builds the tracer provider; one that records nothing unless the
// environment names an exporter. The sampler is OTEL_TRACES_SAMPLER's.
func (t *Telemetry) trace(ctx context.Context, res *resource.Resource) error {
	t.Tracers = noop.NewTracerProvider()
	if !asked("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
		return nil
	}
	exporter, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		return fmt.Errorf("creating the trace exporter that OTEL_TRACES_EXPORTER and OTEL_EXPORTER_OTLP_* ask for: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	t.Tracers = provider
	t.stops = append(t.stops, provider.Shutdown)
	return nil
}

// asked reports whether the environment wants a signal exported: by name, or
// by an endpoint. Metrics for "prometheus" are served at /metrics anyway.
func asked(exporter, endpoint string) bool {
	if name := os.Getenv(exporter); name != "" {
		return name != "none" && name != "prometheus"
	}
	return slices.ContainsFunc([]string{endpoint, "OTEL_EXPORTER_OTLP_ENDPOINT"}, func(name string) bool { return os.Getenv(name) != "" })
}
