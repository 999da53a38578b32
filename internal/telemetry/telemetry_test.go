package telemetry

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rollcall-dev/rollcall/internal/config"
)

// Without any OTEL_ variable: everything at /metrics, nothing pushed, no span
// recorded, and the context of a trace travels on nevertheless.
func TestDefaultsArePrometheusAlone(t *testing.T) {
	tel := quiet(t)
	counter, err := tel.Meters.Meter("test").Int64Counter("rollcall.test.things")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(t.Context(), 3)
	library := prometheus.NewCounter(prometheus.CounterOpts{Name: "pulsar_client_things", Help: "of a library"})
	tel.Registerer.MustRegister(library)
	library.Add(5)

	page := scrape(t, tel)
	for _, line := range []string{
		"rollcall_test_things_total 3",
		"pulsar_client_things 5",
		"go_goroutines ",
		"process_open_fds ",
		`service_name="rollcall-test"`,
		`service_version="v0"`,
	} {
		if !strings.Contains(page, line) {
			t.Errorf("/metrics lacks %q", line)
		}
	}
	if _, ok := tel.Tracers.(noop.TracerProvider); !ok {
		t.Errorf("tracers are %T, want none", tel.Tracers)
	}
	carrier := propagation.MapCarrier{}
	tel.Propagator.Inject(inSpan(t), carrier)
	if got := carrier["traceparent"]; !strings.Contains(got, traceID) {
		t.Errorf("traceparent %q", got)
	}
}

// With an OTLP endpoint: shutting down sends what is not sent yet; our own
// instruments and those of libraries arrive, each once.
func TestShutdownFlushesToOTLP(t *testing.T) {
	collector := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
	t.Setenv("OTEL_METRICS_EXPORTER", "")
	t.Setenv("OTEL_TRACES_EXPORTER", "")
	tel, err := setup(t.Context(), config.Telemetry{LogFormat: "json"}, io.Discard, "refresher", "v0")
	if err != nil {
		t.Fatal(err)
	}
	counter, err := tel.Meters.Meter("test").Int64Counter("rollcall.test.things")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(t.Context(), 3)
	tel.Registerer.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "pulsar_client_things", Help: "of a library"}))
	_, span := tel.Tracers.Tracer("test").Start(t.Context(), "refresh c1")
	span.End()

	shutDown(t, tel)
	metrics, traces := collector.received("/v1/metrics"), collector.received("/v1/traces")
	for _, once := range []string{"rollcall.test.things", "pulsar_client_things", "go_goroutines"} {
		if n := strings.Count(metrics, once); n != 1 {
			t.Errorf("%s was sent %d times, want once", once, n)
		}
	}
	if strings.Contains(metrics, "rollcall_test_things") {
		t.Error("our own instrument came again through the registry")
	}
	if !strings.Contains(traces, "refresh c1") || !strings.Contains(traces, "rollcall-refresher") {
		t.Errorf("the span did not arrive: %q", traces)
	}
	if !strings.Contains(scrape(t, tel), "go_goroutines") {
		t.Error("Prometheus is no longer served beside OTLP")
	}
}

// Which variables ask for a push.
func TestAsked(t *testing.T) {
	for _, tc := range []struct {
		exporter, endpoint, general string
		want                        bool
	}{
		{"", "", "", false},
		{"none", "", "http://c", false},
		{"prometheus", "", "http://c", false}, // it is served anyway
		{"otlp", "", "", true},
		{"console", "", "", true},
		{"", "http://c/v1/metrics", "", true},
		{"", "", "http://c", true},
	} {
		t.Setenv("OTEL_METRICS_EXPORTER", tc.exporter)
		t.Setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", tc.endpoint)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", tc.general)
		if got := asked("OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"); got != tc.want {
			t.Errorf("%+v: %t", tc, got)
		}
	}
}

func TestSetupRefusesAnUnknownExporter(t *testing.T) {
	for _, name := range []string{"OTEL_METRICS_EXPORTER", "OTEL_TRACES_EXPORTER"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "carrier-pigeon")
			if _, err := setup(t.Context(), config.Telemetry{}, io.Discard, "test", "v0"); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v, want one that names %s", err, name)
			}
		})
	}
}

// Install: libraries that ask for the process's defaults get ours.
func TestInstall(t *testing.T) {
	log, meters, tracers, propagator := slog.Default(), otel.GetMeterProvider(), otel.GetTracerProvider(), otel.GetTextMapPropagator()
	t.Cleanup(func() {
		slog.SetDefault(log)
		otel.SetMeterProvider(meters)
		otel.SetTracerProvider(tracers)
		otel.SetTextMapPropagator(propagator)
	})
	var out bytes.Buffer
	tel := quiet(t)
	tel.Log = NewLogger(&out, config.Telemetry{LogFormat: "json"})
	tel.Install()
	if slog.Default() != tel.Log || otel.GetMeterProvider() != tel.Meters || otel.GetTextMapPropagator() == nil {
		t.Error("a default is not ours")
	}
	otel.Handle(io.ErrUnexpectedEOF)
	if !strings.Contains(out.String(), `"msg":"telemetry could not be exported","error":"unexpected EOF"`) {
		t.Errorf("OpenTelemetry's errors are not logged: %s", out.String())
	}
}

// One collector that cannot be read is logged and does not hide the others.
func TestABadCollector(t *testing.T) {
	var out bytes.Buffer
	tel, err := setup(t.Context(), config.Telemetry{LogFormat: "json"}, &out, "test", "v0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shutDown(t, tel) })
	tel.Registerer.MustRegister(broken{})
	if !strings.Contains(scrape(t, tel), "go_goroutines") {
		t.Error("the others are hidden")
	}
	if !strings.Contains(out.String(), "metrics could not be gathered") {
		t.Errorf("nothing is logged: %s", out.String())
	}
}

type broken struct{}

func (broken) Describe(chan<- *prometheus.Desc) {}
func (broken) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.NewInvalidMetric(prometheus.NewDesc("bad", "cannot be read", nil, nil), io.ErrUnexpectedEOF)
}

func scrape(t *testing.T, tel *Telemetry) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	tel.MetricsHandler().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if recorder.Code != http.StatusOK {
		t.Fatalf("/metrics: %d %s", recorder.Code, recorder.Body)
	}
	return recorder.Body.String()
}

// collector takes OTLP over HTTP and keeps the bodies: protobuf leaves strings
// readable.
type collector struct {
	url    string
	mu     sync.Mutex
	bodies map[string]string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{bodies: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bodies[r.URL.Path] += string(body)
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *collector) received(path string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bodies[path]
}
