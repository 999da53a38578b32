package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/config"
)

// What a probe and a person see on each path.
func TestOpsAnswers(t *testing.T) {
	health := NewHealth()
	health.Heartbeat("receive", time.Hour)
	health.Depend(Dependency{Name: "mongodb"})
	base := serving(t, health)

	for _, tc := range []struct {
		method, path string
		code         int
		kind, body   string
	}{
		{http.MethodGet, "/livez", 200, "application/json", `"name": "receive"`},
		{http.MethodHead, "/livez", 200, "application/json", ""},
		{http.MethodGet, "/readyz", 503, "application/json", `"error": "not asked yet"`},
		{http.MethodGet, "/metrics", 200, "text/plain", "go_goroutines"},
		{http.MethodPost, "/livez", 405, "text/plain", "Method Not Allowed"},
		{http.MethodGet, "/", 404, "text/plain", "404"},
		{http.MethodGet, "/debug/pprof/", 404, "text/plain", "404"},
	} {
		t.Run(tc.method+" "+tc.path, func(t *testing.T) {
			code, header, body := ask(t, tc.method, base+tc.path)
			if code != tc.code || !strings.HasPrefix(header.Get("Content-Type"), tc.kind) || !strings.Contains(body, tc.body) {
				t.Errorf("%d %s, want %d %s with %q; body:\n%s", code, header.Get("Content-Type"), tc.code, tc.kind, tc.body, body)
			}
		})
	}
}

func TestOpsBodyIsTheReport(t *testing.T) {
	health := NewHealth()
	health.Depend(Dependency{Name: "redis"})
	health.Stopping()
	_, header, body := ask(t, http.MethodGet, serving(t, health)+"/readyz")
	var got Report
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	wantReport(t, got, Report{Checks: []CheckReport{
		{Name: "redis", LimitSeconds: 12, Error: "not asked yet"},
		{Name: "process", Error: "stopping"},
	}})
	if got := header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("an old answer could be served: %q", got)
	}
}

// A role's pages are served beside these, and hide none of them.
func TestPagesOfTheRole(t *testing.T) {
	pages := http.NewServeMux()
	pages.HandleFunc("GET /backlog", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a page") })
	handler := opsHandler(NewHealth(), http.NotFoundHandler(), pages)
	for path, want := range map[string]int{"/backlog": http.StatusOK, "/livez": http.StatusOK, "/nothing": http.StatusNotFound} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if answer.Code != want {
			t.Errorf("GET %s: %d", path, answer.Code)
		}
	}
}

// An idle client and a huge header cost nothing.
func TestOpsLimits(t *testing.T) {
	tel := quiet(t)
	server, err := tel.ListenOps(t.Context(), "127.0.0.1:0", NewHealth(), http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Listener.Close() })
	s := server.HTTP
	type limits struct {
		header, read, write, idle bool
		bytes                     bool
	}
	got := limits{s.ReadHeaderTimeout > 0, s.ReadTimeout > 0, s.WriteTimeout > 0, s.IdleTimeout > 0, s.MaxHeaderBytes > 0 && s.MaxHeaderBytes <= 64<<10}
	if diff := cmp.Diff(limits{true, true, true, true, true}, got, cmp.AllowUnexported(limits{})); diff != "" {
		t.Error(diff)
	}
}

func TestOpsTellsWhatItCannotDo(t *testing.T) {
	tel := quiet(t)
	server, err := tel.ListenOps(t.Context(), "127.0.0.1:0", NewHealth(), http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tel.ListenOps(t.Context(), server.Addr(), NewHealth(), http.NotFoundHandler()); err == nil || !strings.Contains(err.Error(), "listening for health and metrics") {
		t.Errorf("a taken port: %v", err)
	}
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := server.Serve(t.Context()); err == nil || !strings.Contains(err.Error(), "serving health and metrics") {
		t.Errorf("a closed listener: %v", err)
	}
}

// serving runs an ops server until the test ends and returns its URL.
func serving(t *testing.T, health *Health) string {
	t.Helper()
	server, err := quiet(t).ListenOps(t.Context(), "127.0.0.1:0", health, http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return "http://" + server.Addr()
}

func ask(t *testing.T, method, url string) (int, http.Header, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(body)
}

// quiet is a telemetry that exports nothing and logs nowhere.
func quiet(t *testing.T) *Telemetry {
	t.Helper()
	tel, err := setup(t.Context(), config.Telemetry{LogFormat: "json"}, io.Discard, "test", "v0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shutDown(t, tel) })
	return tel
}

func shutDown(t *testing.T, tel *Telemetry) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := tel.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}
