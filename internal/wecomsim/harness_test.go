package wecomsim

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	corpID = "ww1"
	secret = "s1"
	home   = "10.0.0.1"
)

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Unix(1_700_000_000, 0)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// harness is a Sim with one corp, good members u1 to u3, and a client.
type harness struct {
	tb    testing.TB
	sim   *Sim
	clock *clock
	ip    string
	token string
}

func newHarness(tb testing.TB, o Options) *harness {
	tb.Helper()
	h := &harness{tb: tb, clock: newClock(), ip: home}
	if o.Now == nil {
		o.Now = h.clock.now
	}
	h.sim = New(o)
	tb.Cleanup(h.sim.Close)
	h.must(h.sim.SetCorp(Corp{ID: corpID, Apps: []App{{Secret: secret}}}))
	h.must(h.sim.SetStaff(corpID, Staff{UserID: "u1", Departments: []int{1}}, Staff{UserID: "u2", Departments: []int{1, 2}}, Staff{UserID: "u3"}))
	h.token = h.newToken()
	return h
}

// unlimited are options without limits.
func unlimited() Options { return Options{Limits: &limits.Config{}} }

func (h *harness) must(err error) {
	h.tb.Helper()
	if err != nil {
		h.tb.Fatal(err)
	}
}

// reply is any answer.
type reply struct {
	HTTP        int             `json:"-"`
	Header      http.Header     `json:"-"`
	Raw         string          `json:"-"`
	ErrCode     int             `json:"errcode"`
	ErrMsg      string          `json:"errmsg"`
	AccessToken string          `json:"access_token"`
	ExpiresIn   int             `json:"expires_in"`
	ConfigID    string          `json:"config_id"`
	QRCode      string          `json:"qr_code"`
	NextCursor  string          `json:"next_cursor"`
	ContactWay  json.RawMessage `json:"contact_way"`
}

func (h *harness) newToken() string {
	h.tb.Helper()
	r := h.get("/cgi-bin/gettoken?corpid=" + corpID + "&corpsecret=" + secret)
	if r.AccessToken == "" {
		h.tb.Fatalf("no token: %+v", r)
	}
	return r.AccessToken
}

func (h *harness) get(path string) reply {
	h.tb.Helper()
	return h.do(http.MethodGet, path, "")
}

// call POSTs a contact-way call with the harness's token.
func (h *harness) call(api, body string) reply {
	h.tb.Helper()
	return h.do(http.MethodPost, "/cgi-bin/externalcontact/"+api+"?access_token="+url.QueryEscape(h.token), body)
}

func (h *harness) do(method, path, body string) reply {
	h.tb.Helper()
	r, err := h.try(h.tb.Context(), method, path, body)
	if err != nil {
		h.tb.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

func (h *harness) try(ctx context.Context, method, path, body string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://wecom.test"+path, bytes.NewBufferString(body))
	if err != nil {
		return reply{}, err
	}
	resp, err := h.sim.Client(h.ip).Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(resp.Body); err != nil {
		return reply{}, err
	}
	r := reply{HTTP: resp.StatusCode, Header: resp.Header, Raw: raw.String()}
	if raw.Len() > 0 {
		err = json.Unmarshal(raw.Bytes(), &r)
	}
	return r, err
}

// add creates a way and returns its config_id.
func (h *harness) add(body string) string {
	h.tb.Helper()
	r := h.call("add_contact_way", body)
	if r.ErrCode != 0 {
		h.tb.Fatalf("add %s: %d %s", body, r.ErrCode, r.ErrMsg)
	}
	return r.ConfigID
}

// way returns the contact way as get_contact_way tells it.
func (h *harness) way(configID string) wireWay {
	h.tb.Helper()
	r := h.call("get_contact_way", `{"config_id":"`+configID+`"}`)
	var w wireWay
	if r.ErrCode != 0 {
		h.tb.Fatalf("get %s: %d %s", configID, r.ErrCode, r.ErrMsg)
	}
	h.must(json.Unmarshal(r.ContactWay, &w))
	return w
}

func (h *harness) lastCall() Call {
	h.tb.Helper()
	var last Call
	for e := range h.sim.Ledger().All() {
		last = e
	}
	return last
}

// wait fails the test when ch is not closed, or nothing arrives, in time.
func wait[T any](tb testing.TB, ch <-chan T, what string) T {
	tb.Helper()
	var v T
	select {
	case v = <-ch:
	case <-time.After(10 * time.Second):
		tb.Fatalf("waited in vain for %s", what)
	}
	return v
}

// eventually polls until the condition holds.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			tb.Fatalf("waited in vain for %s", what)
		}
	}
}
