package wecomsim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
)

// Client returns an HTTP client whose requests reach the Sim without a socket,
// from the given IP and whatever the URL's host is. Its transport never
// blocks in the kernel, so it also works within testing/synctest.
func (s *Sim) Client(ip string) *http.Client {
	return &http.Client{Transport: &transport{sim: s, ip: ip}}
}

// errReset is what a client sees of a connection that was cut.
var errReset = fmt.Errorf("wecomsim: connection cut: %w", syscall.ECONNRESET)

type transport struct {
	sim *Sim
	ip  string
}

// RoundTrip serves the request in a goroutine of the Sim, which goes on when
// the client gives up: as WeCom would.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	in, err := t.inbound(req)
	if err != nil {
		return nil, err
	}
	m := &memory{header: http.Header{}, status: http.StatusOK}
	done := make(chan struct{})
	err = t.sim.life.spawn(func() {
		defer close(done)
		t.sim.serve(m, in)
	})
	if err != nil {
		return nil, err
	}
	select {
	case <-done:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	if m.isCut {
		return nil, errReset
	}
	return m.response(req), nil
}

// inbound is the request as a server would see it.
func (t *transport) inbound(req *http.Request) (*http.Request, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return nil, fmt.Errorf("wecomsim: read request: %w", err)
		}
	}
	in := req.Clone(req.Context())
	in.Body = io.NopCloser(bytes.NewReader(body))
	in.RemoteAddr = net.JoinHostPort(t.ip, "0")
	return in, nil
}

// memory is a response in memory. Only the serving goroutine touches it until
// that has ended.
type memory struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
	isCut  bool
}

// Header returns the header to be sent.
func (m *memory) Header() http.Header { return m.header }

// WriteHeader sets the status, once.
func (m *memory) WriteHeader(status int) {
	if !m.wrote {
		m.status, m.wrote = status, true
	}
}

// Write appends to the body.
func (m *memory) Write(p []byte) (int, error) {
	m.wrote = true
	return m.body.Write(p)
}

func (m *memory) cut() { m.isCut = true }

func (m *memory) response(req *http.Request) *http.Response {
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", m.status, http.StatusText(m.status)),
		StatusCode: m.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: m.header, Body: io.NopCloser(&m.body), ContentLength: int64(m.body.Len()), Request: req,
	}
}
