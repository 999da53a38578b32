package wecom

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

// TransportOptions tunes NewTransport. Zero values take the default.
type TransportOptions struct {
	// MaxConns bounds the connections to WeCom, idle ones included; default
	// 128. A call beyond it waits inside its own deadline. WeCom's cap per
	// egress IP is 167 calls a second (333 for a provider), so 128 suffices up
	// to an answer time of 380 ms.
	MaxConns int
	// DialTimeout bounds one TCP connect; default 3 s.
	DialTimeout time.Duration
	// TLSHandshakeTimeout bounds the handshake; default 5 s.
	TLSHandshakeTimeout time.Duration
	// IdleTimeout closes a connection that long unused; default 60 s, less
	// than the 75 s after which many front ends close theirs: a request that
	// meets such a close has an unknown outcome.
	IdleTimeout time.Duration
	// KeepAlive is the period of TCP keep-alive probes; default 15 s.
	KeepAlive time.Duration
	// TLS is the base of the TLS configuration; nil asks for TLS 1.2 or later.
	TLS *tls.Config
	// Proxy chooses the proxy of a request; nil means none. Use
	// http.ProxyFromEnvironment for the usual variables.
	Proxy func(*http.Request) (*url.URL, error)
}

// NewTransport returns a transport for WeCom's API: HTTP/1.1, kept-alive
// connections, one pool as large idle as busy so that none is opened twice.
// Whoever makes it closes its idle connections.
func NewTransport(options TransportOptions) *http.Transport {
	conns := orDefault(options.MaxConns, 128)
	config := options.TLS
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	dialer := &net.Dialer{
		Timeout:   orDefault(options.DialTimeout, 3*time.Second),
		KeepAlive: orDefault(options.KeepAlive, 15*time.Second),
	}
	return &http.Transport{
		Proxy:                  options.Proxy,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    orDefault(options.TLSHandshakeTimeout, 5*time.Second),
		MaxIdleConns:           conns,
		MaxIdleConnsPerHost:    conns,
		MaxConnsPerHost:        conns,
		IdleConnTimeout:        orDefault(options.IdleTimeout, 60*time.Second),
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// orDefault returns value, or fallback when value is not positive.
func orDefault[N int | int64 | time.Duration | float64](value, fallback N) N {
	if value <= 0 {
		return fallback
	}
	return value
}
