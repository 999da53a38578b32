package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

const (
	scope = "github.com/rollcall-dev/rollcall/internal/adapter/webhook"
	// maxAnswer is how much of an answer's body is read, in bytes. Nothing in it
	// counts; what is read keeps the connection.
	maxAnswer = 64 << 10
	// dialTimeout bounds a name's resolution and a TCP connect.
	dialTimeout = 3 * time.Second
	tlsTimeout  = 5 * time.Second
	idleTimeout = 30 * time.Second
	// connsPerHost bounds the connections to one receiver.
	connsPerHost = 8
)

// Network says where requests may go.
type Network int

// The networks.
const (
	// PublicOnly refuses loopback, private and reserved addresses.
	PublicOnly Network = iota
	// PrivateToo allows every address: for an installation whose tenants are its
	// owner's.
	PrivateToo
)

// Options of a Sender. A zero field takes its default.
type Options struct {
	Network Network
	// TLS is the base of the TLS configuration; nil asks for TLS 1.2 or later.
	TLS *tls.Config
	// Now signs requests; time.Now by default.
	Now func() time.Time
	// TracerProvider is the global one by default.
	TracerProvider trace.TracerProvider
}

// Sender is the notify.Sender of webhooks. It is safe for concurrent use; Close
// it at the end.
type Sender struct {
	transport *http.Transport
	client    *http.Client
	now       func() time.Time
	tracer    trace.Tracer
}

var _ notify.Sender = (*Sender)(nil)

// New returns a Sender. It uses no proxy: through one the address that is
// connected to would not be the receiver's.
func New(o Options) *Sender {
	dialer := &net.Dialer{Timeout: dialTimeout}
	if o.Network == PublicOnly {
		dialer.Control = guard
	}
	if o.TLS == nil {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	transport := &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: o.TLS, TLSHandshakeTimeout: tlsTimeout,
		MaxIdleConns: 256, MaxIdleConnsPerHost: connsPerHost, MaxConnsPerHost: connsPerHost, IdleConnTimeout: idleTimeout,
		MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
	}
	return &Sender{
		transport: transport,
		client: &http.Client{
			Transport: transport,
			// A redirect would carry the request to where nobody configured it.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		now: o.Now, tracer: o.TracerProvider.Tracer(scope),
	}
}

// Close closes the idle connections.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }

// Admit lets everything pass: a receiver says by 429 what is too much for it.
func (*Sender) Admit(notify.Channels) time.Duration { return 0 }

// Send posts the message once.
func (s *Sender) Send(ctx context.Context, to notify.Channels, m notify.Message) notify.Outcome {
	ctx, span := s.tracer.Start(ctx, "notify webhook", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", http.MethodPost),
		attribute.String("rollcall.tenant", m.Notice.Tenant),
		attribute.String("rollcall.delivery", m.ID)))
	defer span.End()
	outcome := s.post(ctx, to.Webhook, m)
	switch o := outcome.(type) {
	case notify.Again:
		span.SetStatus(codes.Error, o.Detail)
	case notify.Refused:
		span.SetStatus(codes.Error, o.Detail)
	}
	return outcome
}

func (s *Sender) post(ctx context.Context, to notify.Webhook, m notify.Message) notify.Outcome {
	raw, err := encode(m)
	if err != nil {
		return notify.Refused{Cause: reason.Refused, Detail: err.Error()}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(raw))
	if err != nil {
		return notify.Refused{Cause: reason.Refused, Detail: "the URL cannot be parsed"} // the error repeats it
	}
	timestamp := timestampOf(s.now())
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("User-Agent", "rollcall")
	r.Header.Set(HeaderKey, m.ID)
	r.Header.Set(HeaderTimestamp, timestamp)
	r.Header.Set(HeaderSignature, signatureVersion+Sign(to.Secret, timestamp, raw))
	response, err := s.client.Do(r)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer)) // the status has said it
	return judge(response.StatusCode, response.Header.Get("Retry-After"), s.now())
}

// judge is what a status means.
func judge(status int, retryAfter string, now time.Time) notify.Outcome {
	detail := fmt.Sprintf("http %d", status)
	switch {
	case status >= 200 && status < 300:
		return notify.Accepted{}
	case status == http.StatusTooManyRequests:
		return notify.Again{Cause: reason.Throttled, Detail: detail, After: wait(retryAfter, now)}
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return notify.Again{Cause: reason.Transient, Detail: detail, After: wait(retryAfter, now)}
	}
	return notify.Refused{Cause: reason.Refused, Detail: detail}
}
