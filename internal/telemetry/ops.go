package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// OpsServer serves /livez, /readyz and /metrics. It is for the cluster's own
// eyes and takes no part in the work.
type OpsServer struct {
	listener net.Listener
	server   *http.Server
}

// ListenOps opens addr (host:port; port 0 takes a free one). Nothing is
// answered before [OpsServer.Serve].
func (t *Telemetry) ListenOps(ctx context.Context, addr string, health *Health) (*OpsServer, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for health and metrics: %w", err)
	}
	return &OpsServer{listener: listener, server: &http.Server{
		Handler:           opsHandler(health, t.MetricsHandler()),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(t.Log.Handler(), slog.LevelWarn),
	}}, nil
}

// Addr is where the server listens.
func (s *OpsServer) Addr() string { return s.listener.Addr().String() }

// Serve answers until ctx ends, then gives answers on their way 5 s, and
// returns when the server has stopped. It returns an error only when it could
// not serve.
func (s *OpsServer) Serve(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- s.server.Serve(s.listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving health and metrics: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.server.Shutdown(grace); err != nil {
		_ = s.server.Close() // a client that does not take its answer must not keep us
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving health and metrics: %w", err)
	}
	return nil
}

func opsHandler(health *Health, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /livez", reporting(health.Live))
	mux.Handle("GET /readyz", reporting(health.Ready))
	mux.Handle("GET /metrics", metrics)
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
