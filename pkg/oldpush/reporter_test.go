package oldpush_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/pkg/oldpush"
)

var at = time.Date(2026, 3, 2, 12, 0, 0, 250e6, time.FixedZone("", 8*3600))

// script is a transport that answers one line after the other: a status, then
// perhaps a Retry-After; "broken" is a broken connection, "silent" no answer.
type script struct {
	lines []string
	began time.Time
	sent  []string
	at    []time.Duration
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	s.sent = append(s.sent, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization")+" "+string(body))
	s.at = append(s.at, time.Since(s.began))
	line := strings.Fields(s.lines[min(len(s.sent), len(s.lines))-1])
	answer := &http.Response{Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"outcome":"recorded"}`)), Request: r}
	if len(line) > 1 {
		answer.Header.Set("Retry-After", line[1])
	}
	switch line[0] {
	case "200":
		answer.StatusCode = 200
	case "200-html":
		answer.StatusCode, answer.Body = 200, io.NopCloser(strings.NewReader("<html>"))
	case "404":
		answer.StatusCode, answer.Body = 404, io.NopCloser(strings.NewReader(`{"code":"unknown_code","detail":"the tenant has no such code"}`))
	case "429":
		answer.StatusCode = 429
	case "503":
		answer.StatusCode = 503
	case "307":
		answer.StatusCode = 307
		answer.Header.Set("Location", "https://elsewhere.example.com/")
	case "silent":
		<-r.Context().Done()
		return nil, r.Context().Err()
	default:
		return nil, errors.New("connection reset")
	}
	return answer, nil
}

func (s *script) reporter(t *testing.T, change func(*oldpush.Options)) *oldpush.Reporter {
	t.Helper()
	s.began = time.Now()
	o := oldpush.Options{
		URL: "https://rollcall.example.com/base", Token: func() string { return "rc_1_secret" }, Client: &http.Client{Transport: s},
	}
	if change != nil {
		change(&o)
	}
	r, err := oldpush.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhatIsSent(t *testing.T) {
	s := &script{lines: []string{"200"}}
	if err := s.reporter(t, nil).Pushed(t.Context(), "acme", "c:1", []string{"b.ob", "安"}, at); err != nil {
		t.Fatal(err)
	}
	want := []string{`POST https://rollcall.example.com/base/v1/tenants/acme/codes/c:1/pushed Bearer rc_1_secret {"users":["b.ob","安"],"at":"2026-03-02T12:00:00.25+08:00"}`}
	if diff := cmp.Diff(want, s.sent); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTries(t *testing.T) {
	for name, tc := range map[string]struct {
		lines  []string
		tries  int
		status int // 0: it succeeds; -1: another error
		least  time.Duration
		most   time.Duration
	}{
		"at once":                      {[]string{"200"}, 1, 0, 0, 0},
		"after one that failed":        {[]string{"503", "200"}, 2, 0, 100 * time.Millisecond, 200 * time.Millisecond},
		"after a broken connection":    {[]string{"broken", "200"}, 2, 0, 100 * time.Millisecond, 200 * time.Millisecond},
		"after no answer":              {[]string{"silent", "200"}, 2, 0, 2100 * time.Millisecond, 2200 * time.Millisecond},
		"as late as it is asked to":    {[]string{"429 3", "200"}, 2, 0, 3 * time.Second, 3 * time.Second},
		"three times":                  {[]string{"503"}, 3, 503, 300 * time.Millisecond, 600 * time.Millisecond},
		"not when it is to wait long":  {[]string{"429 6", "200"}, 1, 429, 0, 0},
		"not what is refused":          {[]string{"404", "200"}, 1, 404, 0, 0},
		"not at another place":         {[]string{"307", "200"}, 1, 307, 0, 0},
		"once more after half a proxy": {[]string{"200-html", "200"}, 2, 0, 100 * time.Millisecond, 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{lines: tc.lines}
				err := s.reporter(t, nil).Pushed(t.Context(), "acme", "c-1", []string{"ann"}, at)
				took := time.Since(s.began)
				refused, isAnswer := errors.AsType[*oldpush.StatusError](err)
				if (err == nil) != (tc.status == 0) || isAnswer && refused.Status != tc.status {
					t.Errorf("Pushed = %v", err)
				}
				if len(s.sent) != tc.tries || took < tc.least || took > tc.most {
					t.Errorf("%d tries at %v in %v; want %d in %v to %v", len(s.sent), s.at, took, tc.tries, tc.least, tc.most)
				}
			})
		})
	}
}

// Whatever happens, the caller has his answer by the end of his context, and at
// once when a wait would outlast it.
func TestNobodyWaitsBeyondHisContext(t *testing.T) {
	const patience = 700 * time.Millisecond
	for name, tc := range map[string]struct {
		line string
		most time.Duration
	}{
		"no answer": {"silent", patience}, "a wait": {"429 5", 0}, "failures": {"503", patience - time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{lines: []string{tc.line}}
				reporter := s.reporter(t, func(o *oldpush.Options) { o.Tries = 10 })
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if err := reporter.Pushed(ctx, "acme", "c-1", []string{"ann"}, at); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Pushed = %v", err)
				}
				if took := time.Since(s.began); took > tc.most {
					t.Errorf("it took %v, want at most %v", took, tc.most)
				}
			})
		})
	}
}

func TestACallerWhoGoesAwayIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{lines: []string{"503 4"}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		err := s.reporter(t, nil).Pushed(ctx, "acme", "c-1", []string{"ann"}, at)
		if !errors.Is(err, context.Canceled) || time.Since(s.began) != time.Second {
			t.Errorf("Pushed = %v after %v", err, time.Since(s.began))
		}
	})
}

// An error says what Rollcall said, and never the token.
func TestErrors(t *testing.T) {
	for line, want := range map[string]string{
		"404": "oldpush: rollcall answers 404 unknown_code: the tenant has no such code", "broken": "connection reset",
	} {
		s := &script{lines: []string{line}}
		err := s.reporter(t, func(o *oldpush.Options) { o.Tries = 1 }).Pushed(t.Context(), "acme", "c-1", []string{"ann"}, at)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A name that is none would lead to another route.
func TestNamesThatAreNone(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", "a b", "c?x", strings.Repeat("x", 129)} {
		s := &script{lines: []string{"200"}}
		r := s.reporter(t, nil)
		if r.Pushed(t.Context(), name, "c-1", []string{"ann"}, at) == nil || r.Pushed(t.Context(), "acme", name, []string{"ann"}, at) == nil || len(s.sent) > 0 {
			t.Errorf("%q is sent: %q", name, s.sent)
		}
	}
}

func TestOptionsThatAreWrong(t *testing.T) {
	token := func() string { return "rc_1_secret" }
	for name, o := range map[string]oldpush.Options{
		"no URL":       {Token: token},
		"no scheme":    {URL: "rollcall.example.com", Token: token},
		"another":      {URL: "ftp://rollcall.example.com", Token: token},
		"a password":   {URL: "https://me:secret@rollcall.example.com", Token: token},
		"a query":      {URL: "https://rollcall.example.com/?a=b", Token: token},
		"no token":     {URL: "https://rollcall.example.com"},
		"eleven tries": {URL: "https://rollcall.example.com", Token: token, Tries: 11},
		"a past wait":  {URL: "https://rollcall.example.com", Token: token, MaxWait: -1},
	} {
		if _, err := oldpush.New(o); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
