package telemetry

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/webserver"
)

// opsGrace is how long an answer on its way may take when the process stops.
const opsGrace = 5 * time.Second

// ListenOps opens addr (host:port; port 0 takes a free one) for /livez, /readyz
// and /metrics, and for pages, which has every other path (GET only). They are for the
// cluster's own eyes and take no part in the work. Nothing is answered before
// [webserver.Server.Serve].
func (t *Telemetry) ListenOps(ctx context.Context, addr string, health *Health, pages http.Handler) (*webserver.Server, error) {
	return webserver.Listen(ctx, addr, "health and metrics", &http.Server{
		Handler:           opsHandler(health, t.MetricsHandler(), pages),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(t.Log.Handler(), slog.LevelWarn),
	}, opsGrace)
}

func opsHandler(health *Health, metrics, pages http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /livez", reporting(health.Live))
	mux.Handle("GET /readyz", reporting(health.Ready))
	mux.Handle("GET /metrics", metrics)
	mux.Handle("GET /", pages)
	return mux
}

// reporting answers 200 when all is well and 503 otherwise, with the reasons.
func reporting(ask func() Report) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		report := ask()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if !report.OK {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(report) // the client has gone: there is nobody to tell
	})
}
