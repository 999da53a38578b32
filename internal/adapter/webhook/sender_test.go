package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/adapter/webhook"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "0123456789abcdef"

var (
	signedAt = time.Date(2026, 3, 2, 4, 0, 5, 0, time.UTC)
	message  = notify.Message{ID: "9f86d081884c7d659a2feaa0c55ad015", Notice: notify.Notice{
		Key: "not shown", Kind: notify.CeilingReachedDay, Tenant: "acme", Code: "c1", Staff: "ann", Day: "20260302",
		Count: 20, Limit: 20, At: time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC),
	}}
)

// The worked example of docs/notifications.md: what is sent, byte for byte.
const wantBody = `{"version":1,"id":"9f86d081884c7d659a2feaa0c55ad015","kind":"at_daily_limit","tenant":"acme","code":"c1",` +
	`"staff":"ann","day":"20260302","count":20,"limit":20,"at":"2026-03-02T04:00:00Z",` +
	`"text":"A staff member has reached the day's ceiling of a code: staff ann, code c1, additions 20 of 20, day 20260302, at 2026-03-02 04:00:00 UTC"}`

func TestWhatIsSent(t *testing.T) {
	r := newReceiver(t, nil)
	if o := r.send(t.Context()); o != (notify.Accepted{}) {
		t.Fatalf("Send = %#v", o)
	}
	got := r.requests()
	if len(got) != 1 {
		t.Fatalf("%d requests", len(got))
	}
	if diff := cmp.Diff(wantBody, got[0].body); diff != "" {
		t.Error(diff)
	}
	want := map[string]string{
		"Content-Type": "application/json; charset=utf-8", "User-Agent": "rollcall",
		"Idempotency-Key": message.ID, "Rollcall-Timestamp": "1772424005",
		"Rollcall-Signature": "v1=" + webhook.Sign(secret, "1772424005", []byte(wantBody)),
	}
	for header, value := range want {
		if got := got[0].header.Get(header); got != value {
			t.Errorf("%s: %s; want %s", header, got, value)
		}
	}
	if got[0].method != http.MethodPost || got[0].uri != "/hook?token=0k3n" {
		t.Errorf("%s %s", got[0].method, got[0].uri)
	}
}

// The vector of docs/notifications.md. It was computed by openssl, not by this
// package:
//
//	printf '%s' "$timestamp.$body" | openssl dgst -sha256 -hmac "$secret"
func TestTheSignatureVector(t *testing.T) {
	for _, tc := range []struct{ secret, timestamp, body, want string }{
		{secret, "1772424005", wantBody, "411562a6dacb29ecbe27b085779e841cc2b11267d163956b700625eb527d0265"},
		{secret, "1772424005", `{"hello":"world"}`, "13709ccdd9ac02b996e7a121fe7cd637c41d9e1611dc582b729a9f868269bbb9"},
	} {
		if got := webhook.Sign(tc.secret, tc.timestamp, []byte(tc.body)); got != tc.want {
			t.Errorf("Sign = %s; want %s", got, tc.want)
		}
	}
}

// The example that receivers test their code with is the one above.
func TestTheDocumentedExampleIsTrue(t *testing.T) {
	page, err := os.ReadFile("../../../docs/notifications.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"\n" + wantBody + "\n", "Idempotency-Key: " + message.ID + "\n", "Rollcall-Timestamp: 1772424005\n",
		"Rollcall-Signature: v1=" + webhook.Sign(secret, "1772424005", []byte(wantBody)) + "\n", "secret `" + secret + "`",
	} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page has no %q", part)
		}
	}
}

// Tries of one delivery differ in nothing but when they were signed.
func TestTriesAreAlike(t *testing.T) {
	r := newReceiver(t, nil)
	r.send(t.Context())
	r.now = r.now.Add(time.Hour)
	r.send(t.Context())
	got := r.requests()
	if got[0].body != got[1].body || got[0].header.Get(webhook.HeaderKey) != got[1].header.Get(webhook.HeaderKey) {
		t.Errorf("tries differ: %v and %v", got[0], got[1])
	}
	if got[0].header.Get(webhook.HeaderSignature) == got[1].header.Get(webhook.HeaderSignature) {
		t.Error("a request of an hour ago is as good as one of now")
	}
}

// A receiver's answer, and what it means for a delivery.
func TestWhatAnAnswerMeans(t *testing.T) {
	again := func(cause reason.Reason, detail string, after time.Duration) notify.Outcome {
		return notify.Again{Cause: cause, Detail: detail, After: after}
	}
	refused := func(detail string) notify.Outcome {
		return notify.Refused{Cause: reason.Refused, Detail: detail}
	}
	for _, tc := range []struct {
		status     int
		retryAfter string
		want       notify.Outcome
	}{
		{200, "", notify.Accepted{}},
		{202, "", notify.Accepted{}},
		{204, "", notify.Accepted{}},
		{301, "", refused("http 301")},
		{307, "", refused("http 307")},
		{400, "", refused("http 400")},
		{401, "60", refused("http 401")},
		{404, "", refused("http 404")},
		{410, "", refused("http 410")},
		{408, "", again(reason.Transient, "http 408", 0)},
		{425, "", again(reason.Transient, "http 425", 0)},
		{429, "", again(reason.Throttled, "http 429", 0)},
		{429, "120", again(reason.Throttled, "http 429", 2*time.Minute)},
		{429, "Mon, 02 Mar 2026 04:01:05 GMT", again(reason.Throttled, "http 429", time.Minute)},
		{429, "Mon, 02 Mar 2026 03:01:05 GMT", again(reason.Throttled, "http 429", 0)},
		{429, "-5", again(reason.Throttled, "http 429", 0)},
		{429, "soon", again(reason.Throttled, "http 429", 0)},
		{429, "99999999999999999", again(reason.Throttled, "http 429", 24*time.Hour)},
		{429, "Mon, 02 Mar 2099 04:01:05 GMT", again(reason.Throttled, "http 429", 24*time.Hour)},
		{500, "", again(reason.Transient, "http 500", 0)},
		{503, "30", again(reason.Transient, "http 503", 30*time.Second)},
	} {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", tc.retryAfter)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(tc.status)
		})
		if diff := cmp.Diff(tc.want, r.send(t.Context())); diff != "" {
			t.Errorf("%d %q:\n%s", tc.status, tc.retryAfter, diff)
		}
		if n := len(r.requests()); n != 1 {
			t.Errorf("%d: %d requests; want one, and no redirect followed", tc.status, n)
		}
	}
}

// An answer is read up to a bound: what is beyond it is not waited for.
func TestAnAnswerWithoutEnd(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 32<<10)); err != nil {
				return
			}
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if o := r.send(ctx); o != (notify.Accepted{}) || ctx.Err() != nil {
		t.Errorf("Send = %#v, %v", o, ctx.Err())
	}
}

// A request that has no answer, and the words for it: none is of the URL.
func TestNoAnswer(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	reset := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name   string
		ctx    context.Context
		handle http.HandlerFunc
		url    string // "": the receiver's
		want   string
	}{
		{"it hangs", nil, hang, "", "no answer in time"},
		{"it cuts the connection", nil, reset, "", "the connection was reset"},
		{"it does not listen", nil, nil, "http://" + deadAddress(t), "the connection is refused"},
		{"it has no name", nil, nil, "http://nobody.invalid", "the host's name"},
		{"the process stops", cancelled, nil, "", "cut off"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newReceiver(t, tc.handle)
			if tc.url != "" {
				r.to.Webhook.URL = tc.url + "/hook?token=0k3n"
			}
			ctx := tc.ctx
			if ctx == nil {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
			}
			o, ok := r.send(ctx).(notify.Again)
			if !ok || o.Cause != reason.Transient || !strings.Contains(o.Detail, tc.want) || strings.Contains(o.Detail, "0k3n") {
				t.Errorf("Send = %#v; want one that says %q", o, tc.want)
			}
		})
	}
}

func TestACertificateOfSomebodyElse(t *testing.T) {
	r := newReceiver(t, nil)
	server := httptest.NewTLSServer(http.NotFoundHandler())
	server.Config.ErrorLog = nil
	t.Cleanup(server.Close)
	r.to.Webhook.URL = server.URL
	o, ok := r.send(t.Context()).(notify.Again)
	if !ok || o.Detail != "the certificate is not valid for the host" {
		t.Errorf("Send = %#v", o)
	}
}

// Where a tenant's URL leads, by name or by number, unless the installation
// allows it: nothing is sent there, and it is not tried again.
func TestOurOwnNetworkIsNotReached(t *testing.T) {
	r := newReceiver(t, nil)
	guarded := webhook.New(webhook.Options{})
	t.Cleanup(guarded.Close)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(r.server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254"} {
		o := guarded.Send(t.Context(), notify.Channels{Webhook: notify.Webhook{URL: "http://" + host + ":" + port + "/hook?token=0k3n", Secret: secret}}, message)
		want := notify.Refused{Cause: reason.Refused, Detail: "the address is not a public one"}
		if diff := cmp.Diff(notify.Outcome(want), o); diff != "" {
			t.Errorf("%s:\n%s", host, diff)
		}
	}
	if n := len(r.requests()); n > 0 {
		t.Errorf("%d requests arrived", n)
	}
}

// Whatever fails: neither the URL's path nor the secret is in an outcome or a
// span.
func TestNothingIsGivenAway(t *testing.T) {
	for name, url := range map[string]string{
		"an answer":         "",
		"a broken URL":      "http://%zz/0k3n",
		"another scheme":    "gopher://host/0k3n",
		"nobody listens":    "http://" + deadAddress(t) + "/0k3n",
		"a port of nothing": "http://127.0.0.1:99999/0k3n",
	} {
		spans := tracetest.NewSpanRecorder()
		r := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprint(w, r.URL, secret)
		})
		s := webhook.New(webhook.Options{Network: webhook.PrivateToo, TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))})
		t.Cleanup(s.Close)
		if url != "" {
			r.to.Webhook.URL = url
		}
		o := s.Send(t.Context(), r.to, message)
		if o == (notify.Accepted{}) {
			t.Errorf("%s: accepted", name)
		}
		var said strings.Builder
		fmt.Fprintf(&said, "%#v", o)
		for _, span := range spans.Ended() {
			fmt.Fprintf(&said, " %s %v %v %v", span.Name(), span.Attributes(), span.Status(), span.Events())
		}
		if len(spans.Ended()) != 1 || strings.Contains(said.String(), "0k3n") || strings.Contains(said.String(), secret) {
			t.Errorf("%s: %d spans, %s", name, len(spans.Ended()), said.String())
		}
	}
}

// A notice with nothing but what every notice has.
func TestWhatDoesNotApplyIsLeftOut(t *testing.T) {
	r := newReceiver(t, nil)
	m := notify.Message{ID: "1", Notice: notify.Notice{Kind: notify.StaffResigned, Tenant: "acme", At: signedAt}}
	r.sender.Send(t.Context(), r.to, m)
	var got map[string]any
	if err := json.Unmarshal([]byte(r.requests()[0].body), &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "text")
	want := map[string]any{"version": 1.0, "id": "1", "kind": "resigned", "tenant": "acme", "at": "2026-03-02T04:00:05Z"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// receiver is somebody who is told, and a Sender that may reach him.
type receiver struct {
	server *httptest.Server
	sender *webhook.Sender
	to     notify.Channels
	now    time.Time

	mu  sync.Mutex
	got []request
}

type request struct {
	method, uri, body string
	header            http.Header
}

func newReceiver(t *testing.T, handle http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{now: signedAt}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.got = append(r.got, request{req.Method, req.URL.String(), string(raw), req.Header})
		r.mu.Unlock()
		if handle != nil {
			handle(w, req)
		}
	}))
	t.Cleanup(r.server.Close)
	r.sender = webhook.New(webhook.Options{Network: webhook.PrivateToo, Now: func() time.Time { return r.now }})
	t.Cleanup(r.sender.Close)
	r.to = notify.Channels{Webhook: notify.Webhook{URL: r.server.URL + "/hook?token=0k3n", Secret: secret}}
	return r
}

func (r *receiver) send(ctx context.Context) notify.Outcome { return r.sender.Send(ctx, r.to, message) }

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.got...)
}

// deadAddress is one that nobody listens at.
func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
