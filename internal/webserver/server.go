// Package webserver serves HTTP until it is told to stop, and answers then what
// is on its way.
//
// It refuses to own what is served and the server's limits.
package webserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Server is an HTTP server on a listener of its own.
type Server struct {
	What     string // what is served, for errors
	Listener net.Listener
	HTTP     *http.Server
	Grace    time.Duration // how long requests on their way may take after the stop
}

// Listen opens addr (host:port; port 0 takes a free one). Nothing is answered
// before [Server.Serve].
func Listen(ctx context.Context, addr, what string, server *http.Server, grace time.Duration) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for %s: %w", what, err)
	}
	return &Server{What: what, Listener: listener, HTTP: server, Grace: grace}, nil
}

// Addr is where the server listens.
func (s *Server) Addr() string { return s.Listener.Addr().String() }

// Serve answers until ctx ends, then gives answers on their way the grace, and
// returns when the server has stopped. It returns an error only when it could
// not serve.
func (s *Server) Serve(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- s.HTTP.Serve(s.Listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving %s: %w", s.What, err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
	defer cancel()
	if err := s.HTTP.Shutdown(grace); err != nil {
		_ = s.HTTP.Close() // who does not end must not keep us
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving %s: %w", s.What, err)
	}
	return nil
}
