package landing

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/ratelimit"
)

// house is a site with a desk that says what it is told to.
type house struct {
	t    *testing.T
	site *Site
	now  time.Time
	log  bytes.Buffer

	turn  draw.Turn
	err   error // of every draw
	grant *access.Grant

	asked   []draw.Request
	endings []string
	url     string // of every QR code
	wayErr  error
	looks   int // for a QR code
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{
		t: t, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
		turn:  draw.Turn{Staff: "li.na", Round: 3, Lap: 41, Position: 2},
		grant: &access.Grant{Token: "t1", Tenant: "acme", Scopes: []access.Scope{access.Draw, access.Read}},
		url:   "https://wework.qpic.cn/wwpic/123/0?a=1&b=2",
	}
	site, err := New(Ports{Desk: h, Ways: h, Observer: h, Grant: func(*http.Request) (access.Grant, bool) {
		if h.grant == nil {
			return access.Grant{}, false
		}
		return *h.grant, true
	}}, Options{
		Pace:         ratelimit.Limit{PerSecond: 5, Burst: 20},
		Proxies:      Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
		ImageSources: []string{"https:", "http://127.0.0.1:9"},
		RepeatWithin: time.Minute,
		Now:          func() time.Time { return h.now },
		Logger:       slog.New(slog.NewTextHandler(&h.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.site = site
	return h
}

func (h *house) Draw(_ context.Context, request draw.Request) (draw.Answer, error) {
	h.asked = append(h.asked, request)
	if h.err != nil {
		return draw.Answer{}, fmt.Errorf("draw: secret-detail: %w", h.err)
	}
	return draw.Answer{Ref: push.Ref{Tenant: "acme", Code: request.Code}, Turn: h.turn}, nil
}

func (h *house) Last(context.Context, string, access.Grant) ([]draw.Past, error) {
	return []draw.Past{{Turn: h.turn, At: h.now}}, h.err
}

func (h *house) MemberWay(_ context.Context, ref push.Ref, staff string) (string, error) {
	h.looks++
	if ref != (push.Ref{Tenant: "acme", Code: "c1"}) || staff != h.turn.Staff {
		h.t.Errorf("asked for the QR code of %v, %s", ref, staff)
	}
	return h.url, h.wayErr
}

func (h *house) Ended(_ context.Context, surface draw.Surface, ending draw.Ending, _ time.Duration) {
	h.endings = append(h.endings, string(surface)+" "+string(ending))
}

// request makes a request as a phone's browser does; each header is "Name:
// value", and "Name:" takes one away.
func request(method, target string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, http.NoBody)
	r.RemoteAddr = "203.0.113.7:50000"
	r.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	r.Header.Set("User-Agent", "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 MicroMessenger/8.0.49 Mobile Safari/537.36")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ":")
		r.Header.Del(name)
		if value = strings.TrimSpace(value); value != "" {
			r.Header.Add(name, value)
		}
	}
	return r
}

func (h *house) open(headers ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.site.Page().ServeHTTP(w, request(http.MethodGet, "/c/c1", headers...))
	return w
}

func (h *house) call(method, target string, headers ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.site.API().ServeHTTP(w, request(method, target, headers...))
	return w
}
