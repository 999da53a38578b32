package wecom

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// DefaultBaseURL is WeCom's public API.
const DefaultBaseURL = "https://qyapi.weixin.qq.com"

// EndpointOptions describes WeCom's API host and how to reach it.
type EndpointOptions struct {
	// HTTP makes the calls; nil means one over NewTransport. Redirects are
	// refused and cookies dropped whatever it says. Do not wrap its transport
	// in otelhttp: that records the URL with the token in its query.
	HTTP *http.Client
	// BaseURL is scheme, host and an optional path prefix; default
	// DefaultBaseURL.
	BaseURL string
	// Timeout bounds one exchange, connecting included; default 10 s.
	Timeout time.Duration
	// MaxAnswer bounds an answer's body in bytes; default 1 MiB. A full page
	// of 1 000 config IDs takes about 70 kB.
	MaxAnswer int64
	// Logger takes what happens beside a call's result; nil discards it.
	Logger *slog.Logger
	// TracerProvider and MeterProvider default to the global ones.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Endpoint is WeCom's API host. It makes single exchanges and judges their
// answers; it knows no tenant's credentials and repeats nothing.
type Endpoint struct {
	http      *http.Client
	base      *url.URL
	timeout   time.Duration
	maxAnswer int64
	log       *slog.Logger
	signals   *signals
	now       func() time.Time
}

// NewEndpoint checks the options. It fails on a base URL that is not http or
// https, or that has a user, a query or a fragment.
func NewEndpoint(options EndpointOptions) (*Endpoint, error) {
	base, err := parseBase(options.BaseURL)
	if err != nil {
		return nil, err
	}
	instruments, err := newSignals(options.TracerProvider, options.MeterProvider, base)
	if err != nil {
		return nil, fmt.Errorf("create the instruments: %w", err)
	}
	endpoint := &Endpoint{
		http:      withoutRedirects(options.HTTP),
		base:      base,
		timeout:   orDefault(options.Timeout, 10*time.Second),
		maxAnswer: orDefault(options.MaxAnswer, 1<<20),
		log:       options.Logger,
		signals:   instruments,
		now:       options.Now,
	}
	if endpoint.log == nil {
		endpoint.log = slog.New(slog.DiscardHandler)
	}
	if endpoint.now == nil {
		endpoint.now = time.Now
	}
	return endpoint, nil
}

// withoutRedirects copies client so that it hands a redirect back as the
// answer. Following one would carry the token to another host, and a POST
// twice to the same.
func withoutRedirects(client *http.Client) *http.Client {
	if client == nil {
		client = &http.Client{Transport: NewTransport(TransportOptions{})}
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	own.Jar = nil
	return &own
}

func parseBase(text string) (*url.URL, error) {
	if text == "" {
		text = DefaultBaseURL
	}
	base, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the base URL cannot be parsed")
	}
	switch {
	case base.Scheme != "http" && base.Scheme != "https":
		return nil, fmt.Errorf("the base URL's scheme is %q, not http or https", base.Scheme)
	case base.Host == "":
		return nil, errors.New("the base URL has no host")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("the base URL has a user, a query or a fragment")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	return base, nil
}
