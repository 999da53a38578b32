package service

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/webserver"
)

// webGrace is how long requests on their way may take when the process stops.
const webGrace = 10 * time.Second

func listenWeb(ctx context.Context, addr string, handler http.Handler, tel *telemetry.Telemetry) (*webserver.Server, error) {
	return webserver.Listen(ctx, addr, "callbacks and the API", &http.Server{
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
	}, webGrace)
}
