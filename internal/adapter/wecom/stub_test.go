package wecom_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/push"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	tenant   = "acme"
	corpID   = "ww0001"
	secret   = "s3cr3t/of+the app"
	tokenTag = "tok3n/+"
)

// noDeadline lets a call be sent whenever.
var noDeadline time.Time

// credentials of every tenant, which a test may change between calls.
type credentials struct {
	mu     sync.Mutex
	corpID string
	secret string
	err    error
	asked  int
}

func goodCredentials() *credentials { return &credentials{corpID: corpID, secret: secret} }

func (c *credentials) Credentials(_ context.Context, _ string) (string, wecom.Secret, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return c.corpID, wecom.NewSecret(c.secret), c.err
}

// stub is a WeCom of a few lines: it gives tokens, checks them, records what
// it was asked and answers as it was told.
type stub struct {
	mu       sync.Mutex
	lifetime int // of tokens, in seconds
	script   map[string][]int
	good     string // the token accepted
	given    int    // tokens given
	sameNext bool   // give the token again that was given before
	calls    []received
	// before runs before a call is answered.
	before func(op string)
	// response is the body of a successful call by operation.
	response map[string]string
	// pages are the answers of a listing by cursor.
	pages map[string]string
}

type received struct {
	Op    string
	Token string
	Body  string
}

func newStub() *stub {
	return &stub{lifetime: 7200, script: map[string][]int{}, response: map[string]string{}}
}

// next has the next calls of an operation answered with these errcodes.
func (s *stub) next(op string, errcodes ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script[op] = append(s.script[op], errcodes...)
}

// revoke makes the token given last invalid.
func (s *stub) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.good = ""
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	op := path.Base(r.URL.Path)
	if s.before != nil {
		s.before(op)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, received{Op: op, Token: r.URL.Query().Get("access_token"), Body: string(body)})
	w.Header().Set("Content-Type", "application/json")
	if queue := s.script[op]; len(queue) > 0 {
		s.script[op] = queue[1:]
		if queue[0] != 0 {
			fmt.Fprintf(w, `{"errcode":%d,"errmsg":"scripted, from ip: 192.0.2.1"}`, queue[0])
			return
		}
	}
	switch {
	case op == "gettoken":
		s.giveToken(w, r)
	case r.URL.Query().Get("access_token") != s.good:
		io.WriteString(w, `{"errcode":40014,"errmsg":"invalid access_token"}`)
	case op == wecom.OpList && s.pages != nil:
		var asked struct{ Cursor string }
		_ = json.Unmarshal(body, &asked)
		io.WriteString(w, s.pages[asked.Cursor])
	case s.response[op] != "":
		io.WriteString(w, s.response[op])
	default:
		io.WriteString(w, `{"errcode":0,"errmsg":"ok"}`)
	}
}

func (s *stub) giveToken(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if query.Get("corpid") != corpID || query.Get("corpsecret") != secret {
		io.WriteString(w, `{"errcode":40001,"errmsg":"invalid credential"}`)
		return
	}
	if !s.sameNext {
		s.given++
	}
	s.good = fmt.Sprintf("%s%d", tokenTag, s.given)
	fmt.Fprintf(w, `{"errcode":0,"errmsg":"ok","access_token":%q,"expires_in":%d}`, s.good, s.lifetime)
}

// count returns how often an operation was called.
func (s *stub) count(op string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, call := range s.calls {
		if call.Op == op {
			n++
		}
	}
	return n
}

func (s *stub) last(t *testing.T) received {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 {
		t.Fatal("nothing was called")
	}
	return s.calls[len(s.calls)-1]
}

// inMemory is a transport that hands requests to a handler without a network,
// so that time can be synctest's.
type inMemory struct{ handler http.Handler }

func (m inMemory) RoundTrip(request *http.Request) (*http.Response, error) {
	inside := request.Clone(request.Context())
	if request.Body != nil {
		payload, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		inside.Body = io.NopCloser(bytes.NewReader(payload))
	} else {
		inside.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	m.handler.ServeHTTP(recorder, inside)
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	return recorder.Result(), nil
}

// bench is a client with its parts, over a stub in memory.
type bench struct {
	stub        *stub
	credentials *credentials
	endpoint    *wecom.Endpoint
	tokens      *wecom.Tokens
	client      *wecom.Client
}

func newBench(t *testing.T, options wecom.TokensOptions) *bench {
	b := &bench{stub: newStub(), credentials: goodCredentials()}
	b.endpoint = newEndpoint(t, wecom.EndpointOptions{HTTP: &http.Client{Transport: inMemory{b.stub}}})
	b.tokens = wecom.NewTokens(b.endpoint, b.credentials, options)
	t.Cleanup(b.tokens.Close)
	b.client = wecom.NewClient(b.endpoint, b.tokens)
	return b
}

// sibling is another instance with the same store.
func (b *bench) sibling(t *testing.T, options wecom.TokensOptions) *wecom.Tokens {
	tokens := wecom.NewTokens(b.endpoint, b.credentials, options)
	t.Cleanup(tokens.Close)
	return tokens
}

func newEndpoint(t *testing.T, options wecom.EndpointOptions) *wecom.Endpoint {
	t.Helper()
	if options.BaseURL == "" {
		options.BaseURL = "http://wecom.invalid"
	}
	endpoint, err := wecom.NewEndpoint(options)
	if err != nil {
		t.Fatal(err)
	}
	return endpoint
}

// fixedToken is a token source with one token that never fails.
type fixedToken string

func (f fixedToken) Token(context.Context, string) (wecom.Secret, error) {
	return wecom.NewSecret(string(f)), nil
}
func (fixedToken) Report(context.Context, string, wecom.Secret, *push.CallError) {}

func callError(t *testing.T, err error) *push.CallError {
	t.Helper()
	callErr, ok := errors.AsType[*push.CallError](err)
	if !ok {
		t.Fatalf("error is not a *push.CallError: %v", err)
	}
	return callErr
}

// mustToken may be called from any goroutine of a test.
func mustToken(t *testing.T, tokens *wecom.Tokens) string {
	t.Helper()
	token, err := tokens.Token(t.Context(), tenant)
	if err != nil {
		t.Error(err)
	}
	return token.Reveal()
}

// elapse lets d pass; in a synctest bubble that takes no time.
func elapse(d time.Duration) { <-time.After(d) }

func notBefore(t *testing.T, err error) time.Time {
	t.Helper()
	wait, ok := errors.AsType[*wecom.NotBeforeError](err)
	if !ok {
		t.Fatalf("error does not say until when: %v", err)
	}
	return wait.Until
}
