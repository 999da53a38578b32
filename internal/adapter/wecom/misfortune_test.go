package wecom_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// misfortune is one way in which a call can end, and what an update makes of
// it; nil is success.
type misfortune struct {
	name string
	want *push.CallError
	// Exactly one of these makes it happen.
	answer http.HandlerFunc
	dial   func(ctx context.Context, network, address string) (netConn, error)
	ended  bool // the caller's context has ended
	sendBy time.Time
	tls    bool // https is spoken to an http server
}

type netConn = net.Conn

var (
	notApplied = func(status, errcode int) *push.CallError {
		return &push.CallError{HTTPStatus: status, ErrCode: errcode}
	}
	unknown = func(status, errcode int) *push.CallError {
		return &push.CallError{HTTPStatus: status, ErrCode: errcode, Unknown: true}
	}
)

func misfortunes() []misfortune {
	return append(answers(), silences()...)
}

// answers are the ends at which WeCom, or something before it, said something.
func answers() []misfortune {
	return []misfortune{
		{name: "applied", answer: says(200, `{"errcode":0,"errmsg":"ok"}`)},
		{name: "refused with an errcode", want: notApplied(200, 45009), answer: says(200, `{"errcode":45009,"errmsg":"api freq out of limit, hint: [1], from ip: 192.0.2.1"}`)},
		{name: "an errcode nobody knows", want: notApplied(200, 99999), answer: says(200, `{"errcode":99999,"errmsg":"new"}`)},
		{name: "system busy", want: unknown(200, -1), answer: says(200, `{"errcode":-1,"errmsg":"system busy"}`)},
		{name: "http 404 with an empty body", want: notApplied(404, 0), answer: says(404, "")},
		{name: "http 403 of a proxy", want: notApplied(403, 0), answer: says(403, "<html>")},
		{name: "http 500", want: unknown(500, 0), answer: says(500, "")},
		{name: "http 502 that repeats the URL", want: unknown(502, 0), answer: repeatsURL(502)},
		{name: "http 200 that repeats the URL in errmsg", want: notApplied(200, 40058), answer: repeatsURL(200)},
		{name: "a redirect", want: unknown(302, 0), answer: redirects},
		{name: "http 204", want: unknown(204, 0), answer: says(204, "")},
		{name: "not JSON", want: unknown(200, 0), answer: says(200, "<html>welcome to the hotel</html>")},
		{name: "JSON without an errcode", want: unknown(200, 0), answer: says(200, `{"ok":true}`)},
		{name: "an empty body", want: unknown(200, 0), answer: says(200, "")},
		{name: "cut in the middle", want: unknown(200, 0), answer: cuts},
		{name: "too large", want: unknown(200, 0), answer: says(200, `{"errcode":0,"errmsg":"`+strings.Repeat("x", 1<<21)+`"}`)},
	}
}

// silences are the ends without an answer.
func silences() []misfortune {
	return []misfortune{
		{name: "reset after it was read", want: unknown(0, 0), answer: resets},
		{name: "no answer in time", want: unknown(0, 0), answer: hangs},
		{name: "connection refused", want: notApplied(0, 0), dial: refuses},
		{name: "no such host", want: notApplied(0, 0), dial: noSuchHost},
		{name: "connecting takes too long", want: notApplied(0, 0), dial: dialHangs},
		{name: "tls handshake fails", want: notApplied(0, 0), answer: says(200, ""), tls: true},
		{name: "the caller gave up before", want: notApplied(0, 0), answer: says(200, ""), ended: true},
		{name: "the deadline for sending passed before", want: notApplied(0, 0), answer: says(200, ""), sendBy: time.Unix(1, 0)},
	}
}

// update meets the misfortune with an update.
func (m misfortune) update(t *testing.T, options wecom.EndpointOptions) error {
	client := wecom.NewClient(newEndpoint(t, m.options(t, options)), fixedToken(tokenTag))
	return client.UpdateContactWay(m.context(t), tenant, wecom.UpdateContactWayRequest{
		ConfigID: "c1", User: []string{"amy"}, SendBy: m.sendBy,
	})
}

func (m misfortune) options(t *testing.T, options wecom.EndpointOptions) wecom.EndpointOptions {
	transport := newTransport(t)
	options.HTTP = &http.Client{Transport: transport}
	options.Timeout = 400 * time.Millisecond // "no answer in time" has to get there first
	if m.answer == nil {
		options.Timeout = 50 * time.Millisecond
		transport.DialContext = m.dial
		options.BaseURL = "http://wecom.invalid"
		return options
	}
	options.BaseURL = newServer(t, m.answer).URL
	if m.tls {
		options.BaseURL = strings.Replace(options.BaseURL, "http:", "https:", 1)
	}
	if m.want == nil || m.want.HTTPStatus != 0 {
		options.Timeout = 10 * time.Second
	}
	return options
}

func (m misfortune) context(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	if m.ended {
		cancel()
	}
	return ctx
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func repeatsURL(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		says(status, `{"errcode":40058,"errmsg":"bad call of `+r.URL.String()+` with `+r.URL.Query().Get("access_token")+`"}`)(w, r)
	}
}

func redirects(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/elsewhere?"+r.URL.RawQuery, http.StatusFound)
}

func cuts(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, `{"errcode":0,`)
}

func resets(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

func hangs(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func refuses(context.Context, string, string) (netConn, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connect: connection refused")}
}

func noSuchHost(_ context.Context, _, address string) (netConn, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: address, IsNotFound: true}}
}

func dialHangs(ctx context.Context, _, _ string) (netConn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func newServer(t *testing.T, handler http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func newTransport(t *testing.T) *http.Transport {
	transport := wecom.NewTransport(wecom.TransportOptions{})
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Unix(1_700_000_000, 0)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
