package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// webGrace is how long requests on their way may take when the process stops.
const webGrace = 10 * time.Second

// web serves HTTP until it is told to stop.
type web struct {
	listener net.Listener
	server   *http.Server
}

func listenWeb(ctx context.Context, addr string, handler http.Handler, tel *telemetry.Telemetry) (*web, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for callbacks and the API: %w", err)
	}
	return &web{listener: listener, server: &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		// Bulk imports are long; each handler bounds what it reads and for how
		// long it works.
		ReadTimeout:    5 * time.Minute,
		WriteTimeout:   5 * time.Minute,
		IdleTimeout:    time.Minute,
		MaxHeaderBytes: 16 << 10,
		ErrorLog:       slog.NewLogLogger(tel.Log.Handler(), slog.LevelDebug), // a stranger must not fill the log
		BaseContext:    func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}}, nil
}

// serve answers until ctx ends, and then what is on its way.
func (w *web) serve(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- w.server.Serve(w.listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve callbacks and the API: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), webGrace)
	defer cancel()
	if err := w.server.Shutdown(grace); err != nil {
		_ = w.server.Close() // who is not done by now sends it again
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve callbacks and the API: %w", err)
	}
	return nil
}
