package callback

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
)

// The vector that WeCom publishes with its sample libraries (page 90968).
const (
	vectorToken     = "QDG6eK"
	vectorKey       = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
	vectorReceiver  = "wx5823bf96d3bd56c7"
	vectorTimestamp = 1409659589
	vectorNonce     = "263014780"
	vectorSignature = "5c45ff5e21c57e6ad56bac8758b79b1d9ac89fd3"
	vectorEcho      = "P9nAzCzyDtyTWESHep1vC5X9xho/qYX3Zpb4yKa9SKld1DsH3Iyt3tP3zNdtp+4RPcs8TgAE7OaBO+FZXvnaqQ=="
	vectorText      = "1616140317555161061"
)

var now = time.Unix(vectorTimestamp, 0)

func TestPublishedVectorPassesTheCheck(t *testing.T) {
	h := newHouse(t)
	query := url.Values{
		"msg_signature": {vectorSignature}, "timestamp": {strconv.Itoa(vectorTimestamp)}, "nonce": {vectorNonce}, "echostr": {vectorEcho},
	}
	got := h.do(http.MethodGet, "/callback/acme?"+query.Encode(), nil)
	if got.Code != http.StatusOK || got.Body.String() != vectorText {
		t.Errorf("answer %d %q, want the bare text", got.Code, got.Body)
	}
	h.answered(Verified)
}

// A genuine callback is taken; anything that is not is refused with its status,
// and counted, and nothing follows from it.
func TestAnswers(t *testing.T) {
	addition := eventXML("change_external_contact", "add_external_contact", "<UserID>zhang</UserID><ExternalUserID>wm1</ExternalUserID><State>code-1</State>")
	for name, tc := range map[string]struct {
		request func(h *house) *http.Request
		status  int
		fate    Fate
		taken   int
	}{
		"an addition": {
			func(h *house) *http.Request { return h.sealed(addition, now) }, 200, Taken, 1,
		},
		"for the suite": {
			func(h *house) *http.Request { return h.sealedBy(h.codec(vectorToken, "suite-1"), addition, now) }, 200, Taken, 1,
		},
		"a resignation": {
			func(h *house) *http.Request {
				return h.sealed(eventXML("change_contact", "delete_user", "<UserID>zhang</UserID>"), now)
			}, 200, Taken, 1,
		},
		"a department": {
			func(h *house) *http.Request {
				return h.sealed(eventXML("change_contact", "create_party", "<Id>2</Id>"), now)
			}, 200, Ignored, 0,
		},
		"another event": {
			func(h *house) *http.Request {
				return h.sealed(eventXML("change_external_tag", "create", "<Id>2</Id>"), now)
			}, 200, Ignored, 0,
		},
		"a tampered signature": {
			func(h *house) *http.Request {
				return change(h.sealed(addition, now), "msg_signature", strings.Repeat("0", 40))
			}, 403, Forged, 0,
		},
		"a tampered time": {
			func(h *house) *http.Request { return change(h.sealed(addition, now), "timestamp", "1409659590") }, 403, Forged, 0,
		},
		"another token": {
			func(h *house) *http.Request {
				return h.sealedBy(h.codec("another", vectorReceiver), addition, now)
			}, 403, Forged, 0,
		},
		"no signature": {
			func(h *house) *http.Request { return change(h.sealed(addition, now), "msg_signature", "") }, 403, Forged, 0,
		},
		"another receiver": {
			func(h *house) *http.Request {
				return h.sealedBy(h.codec(vectorToken, "wx0000000000000000"), addition, now)
			}, 403, Misdirect, 0,
		},
		"about another company": {
			func(h *house) *http.Request {
				return h.sealedBy(h.codec(vectorToken, "suite-1"), strings.Replace(addition, vectorReceiver, "wx0000000000000000", 1), now)
			}, 403, Misdirect, 0,
		},
		"a replay of long ago": {
			func(h *house) *http.Request { return h.sealed(addition, now.Add(-11*time.Minute)) }, 403, Stale, 0,
		},
		"from the future": {
			func(h *house) *http.Request { return h.sealed(addition, now.Add(11*time.Minute)) }, 403, Stale, 0,
		},
		"a body of 10 MiB": {
			func(h *house) *http.Request {
				r := h.sealed(addition, now)
				return h.request(http.MethodPost, r.URL.String(), strings.NewReader(strings.Repeat("x", 10<<20)))
			}, 413, TooLarge, 0,
		},
		"no XML": {
			func(h *house) *http.Request {
				r := h.sealed(addition, now)
				return h.request(http.MethodPost, r.URL.String(), strings.NewReader("{}"))
			}, 400, Malformed, 0,
		},
		"a document type within": {
			func(h *house) *http.Request {
				return h.sealed(`<!DOCTYPE x [<!ENTITY a "b">]>`+addition, now)
			}, 400, Malformed, 0,
		},
		"no customer": {
			func(h *house) *http.Request {
				return h.sealed(eventXML("change_external_contact", "add_external_contact", "<UserID>zhang</UserID>"), now)
			}, 400, Malformed, 0,
		},
		"an unknown tenant": {
			func(h *house) *http.Request {
				r := h.sealed(addition, now)
				return h.request(http.MethodPost, "/callback/nobody?"+r.URL.RawQuery, r.Body)
			}, 404, Unknown, 0,
		},
		"another method": {
			func(h *house) *http.Request { return h.request(http.MethodPut, "/callback/acme", nil) }, 405, BadMethod, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			got := httptest.NewRecorder()
			h.mux.ServeHTTP(got, tc.request(h))
			if got.Code != tc.status || got.Body.Len() > 0 {
				t.Errorf("answer %d %q, want %d and no body", got.Code, got.Body, tc.status)
			}
			h.answered(tc.fate)
			if n := len(h.taker.events) + len(h.taker.changes); n != tc.taken {
				t.Errorf("%d events were taken, want %d", n, tc.taken)
			}
		})
	}
}

func TestWhatAnEventSays(t *testing.T) {
	at := time.Unix(1409659000, 0).UTC()
	pair := quota.Pair{Tenant: "acme", Staff: "zhang.san@corp", Customer: "wm1"}
	ids := "<UserID><![CDATA[zhang.san@corp]]></UserID><ExternalUserID><![CDATA[wm1]]></ExternalUserID>"
	for name, tc := range map[string]struct {
		event, change, fields string
		want                  any
	}{
		"added": {
			"change_external_contact", "add_external_contact", ids + "<State>s</State><WelcomeCode>w</WelcomeCode>",
			quota.Event{Pair: pair, Change: quota.Added, State: "s", At: at},
		},
		"half added": {
			"change_external_contact", "add_half_external_contact", ids + "<State>s</State>",
			quota.Event{Pair: pair, Change: quota.HalfAdded, State: "s", At: at},
		},
		"deleted":    {"change_external_contact", "del_external_contact", ids, quota.Event{Pair: pair, Change: quota.Deleted, At: at}},
		"unfollowed": {"change_external_contact", "del_follow_user", ids, quota.Event{Pair: pair, Change: quota.Unfollowed, At: at}},
		"resigned": {
			"change_contact", "delete_user", "<UserID>li</UserID>",
			quota.StaffChange{Tenant: "acme", Staff: "li", Standing: quota.Gone, At: at},
		},
		"disabled": {
			"change_contact", "update_user", "<UserID>li</UserID><Status>2</Status>",
			quota.StaffChange{Tenant: "acme", Staff: "li", Standing: quota.Inactive, At: at},
		},
		"moved": {
			"change_contact", "update_user", "<UserID>li</UserID><Department>1,22</Department><ExtAttr><Item><Name>x</Name></Item></ExtAttr>",
			quota.StaffChange{Tenant: "acme", Staff: "li", Departments: []int64{1, 22}, At: at},
		},
		"renamed": {
			"change_contact", "update_user", "<UserID>li</UserID><NewUserID>li2</NewUserID>",
			quota.StaffChange{Tenant: "acme", Staff: "li", Renamed: "li2", At: at},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			got := httptest.NewRecorder()
			h.mux.ServeHTTP(got, h.sealed(eventXML(tc.event, tc.change, tc.fields), now))
			if got.Code != http.StatusOK {
				t.Fatalf("answer %d", got.Code)
			}
			var taken any
			if len(h.taker.events) > 0 {
				taken = h.taker.events[0]
			} else if len(h.taker.changes) > 0 {
				taken = h.taker.changes[0]
			}
			if diff := cmp.Diff(tc.want, taken); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What cannot be made durable is not answered with 200: WeCom sends it again.
func TestAFailureIsNotAcknowledged(t *testing.T) {
	h := newHouse(t)
	h.taker.err = errors.New("the store is away")
	got := httptest.NewRecorder()
	h.mux.ServeHTTP(got, h.sealed(eventXML("change_external_contact", "del_follow_user", "<UserID>a</UserID><ExternalUserID>b</ExternalUserID>"), now))
	if got.Code != http.StatusServiceUnavailable {
		t.Errorf("answer %d, want 503", got.Code)
	}
	h.answered(Failed)
}

// A tenant who is not there is asked for once in a while, however often a
// stranger calls; new settings are used when the old ones have had their time.
func TestSettingsAreRemembered(t *testing.T) {
	h := newHouse(t)
	for range 100 {
		h.do(http.MethodGet, "/callback/nobody", nil)
		h.do(http.MethodGet, "/callback/acme", nil)
	}
	if h.directory.asked != 2 {
		t.Errorf("the directory was asked %d times, want once a tenant", h.directory.asked)
	}
	h.now = h.now.Add(time.Minute)
	h.do(http.MethodGet, "/callback/acme", nil)
	if h.directory.asked != 3 {
		t.Errorf("the directory was asked %d times, want once more", h.directory.asked)
	}
}

// A stranger can neither make the store work nor fill the memory with names
// that no tenant can have.
func TestWhatCannotBeATenantIsNotLookedUp(t *testing.T) {
	h := newHouse(t)
	for _, tenant := range []string{strings.Repeat("x", 129), "a%2Fb", "a%00", "%E7%A0%81"} {
		if got := h.do(http.MethodGet, "/callback/"+tenant, nil); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", tenant, got.Code)
		}
	}
	h.answered(Unknown, Unknown, Unknown, Unknown)
	if h.directory.asked != 0 {
		t.Errorf("the directory was asked %d times, want none", h.directory.asked)
	}
}

// Names that no tenant has do not push out the tenants that are in use.
func TestStrangersDoNotPushATenantOut(t *testing.T) {
	h := newHouse(t)
	for i := range 3 * h.opts.MaxTenants {
		h.do(http.MethodGet, "/callback/acme", nil)
		h.do(http.MethodGet, "/callback/nobody-"+strconv.Itoa(i), nil)
	}
	if want := 1 + 3*h.opts.MaxTenants; h.directory.asked != want {
		t.Errorf("the directory was asked %d times, want %d: once for the tenant, once for each stranger", h.directory.asked, want)
	}
}

// A flood of one tenant fills its own lane: what is beyond it is refused at
// once, and another tenant's callback is taken meanwhile.
func TestAFloodStaysInItsLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.taker.stuck = map[string]chan struct{}{"acme": make(chan struct{})}
		deletion := eventXML("change_external_contact", "del_follow_user", "<UserID>a</UserID><ExternalUserID>b</ExternalUserID>")
		var flood sync.WaitGroup
		codes := make(chan int, 20)
		for range 20 {
			flood.Go(func() {
				got := httptest.NewRecorder()
				h.mux.ServeHTTP(got, h.sealed(deletion, now))
				codes <- got.Code
			})
		}
		synctest.Wait()
		if n := len(codes); n != 20-h.opts.Places-h.opts.Waiting {
			t.Errorf("%d callbacks are answered, want all beyond %d places and %d waiting", n, h.opts.Places, h.opts.Waiting)
		}
		other := h.sealed(deletion, now)
		got := httptest.NewRecorder()
		h.mux.ServeHTTP(got, h.request(http.MethodPost, "/callback/other?"+other.URL.RawQuery, other.Body))
		if got.Code != http.StatusOK {
			t.Errorf("another tenant's callback: %d", got.Code)
		}
		close(h.taker.stuck["acme"])
		flood.Wait()
		tally := map[int]int{}
		for range 20 {
			tally[<-codes]++
		}
		if diff := cmp.Diff(map[int]int{200: 6, 429: 14}, tally); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		if len(h.handler.lanes.lane) != 0 {
			t.Error("a lane is left behind")
		}
	})
}

// house is a handler with all around it.
type house struct {
	*testing.T
	handler   *Handler
	mux       *http.ServeMux
	taker     *taker
	directory *book
	opts      Options
	now       time.Time

	mu    sync.Mutex
	fates []Fate
}

func newHouse(t *testing.T) *house {
	h := &house{T: t, taker: &taker{}, mux: http.NewServeMux(), now: now}
	settings := Settings{Token: vectorToken, AESKey: vectorKey, ReceiveIDs: []string{vectorReceiver, "suite-1"}}
	h.directory = &book{settings: map[string]Settings{"acme": settings, "other": settings}}
	h.opts = Options{
		Timeout: 4 * time.Second, MaxAge: 10 * time.Minute, Places: 2, Waiting: 4, Remember: 30 * time.Second, MaxTenants: 100,
		Now: func() time.Time { return h.now }, Observer: h, Logger: slog.New(slog.DiscardHandler),
	}
	h.handler = New(h.taker, h.directory, h.opts)
	h.mux.Handle("/callback/{tenant}", h.handler)
	return h
}

func (h *house) Answered(_ context.Context, fate Fate, _ time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fates = append(h.fates, fate)
}

func (h *house) answered(want ...Fate) {
	h.Helper()
	if diff := cmp.Diff(want, h.fates); diff != "" {
		h.Errorf("counted (-want +got):\n%s", diff)
	}
}

func (h *house) do(method, target string, body io.Reader) *httptest.ResponseRecorder {
	got := httptest.NewRecorder()
	h.mux.ServeHTTP(got, h.request(method, target, body))
	return got
}

func (h *house) request(method, target string, body io.Reader) *http.Request {
	return httptest.NewRequestWithContext(h.Context(), method, target, body)
}

func (h *house) codec(token, receiver string) *wecomcrypto.Codec {
	h.Helper()
	codec, err := wecomcrypto.New(token, vectorKey, receiver)
	if err != nil {
		h.Fatal(err)
	}
	return codec
}

func (h *house) sealed(message string, at time.Time) *http.Request {
	return h.sealedBy(h.codec(vectorToken, vectorReceiver), message, at)
}

func (h *house) sealedBy(codec *wecomcrypto.Codec, message string, at time.Time) *http.Request {
	h.Helper()
	stamp, body, err := codec.Seal([]byte(message), strconv.FormatInt(at.Unix(), 10), "nonce")
	if err != nil {
		h.Fatal(err)
	}
	return h.request(http.MethodPost, "/callback/acme?"+stamp.Query().Encode(), bytes.NewReader(body))
}

func change(r *http.Request, key, value string) *http.Request {
	query := r.URL.Query()
	query.Set(key, value)
	r.URL.RawQuery = query.Encode()
	return r
}

func eventXML(event, changeType, fields string) string {
	return fmt.Sprintf("<xml><ToUserName><![CDATA[%s]]></ToUserName><FromUserName><![CDATA[sys]]></FromUserName>"+
		"<CreateTime>1409659000</CreateTime><MsgType><![CDATA[event]]></MsgType><Event><![CDATA[%s]]></Event>"+
		"<ChangeType><![CDATA[%s]]></ChangeType>%s</xml>", vectorReceiver, event, changeType, fields)
}

// book is a Directory.
type book struct {
	settings map[string]Settings

	mu    sync.Mutex
	asked int
}

func (b *book) Settings(_ context.Context, tenant string) (Settings, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	s, found := b.settings[tenant]
	if !found {
		return Settings{}, ErrNoReceiver
	}
	return s, nil
}

// taker remembers what it takes.
type taker struct {
	err   error
	stuck map[string]chan struct{} // closed: go on

	mu      sync.Mutex
	events  []quota.Event
	changes []quota.StaffChange
}

func (t *taker) Take(_ context.Context, event quota.Event) (quota.Judgement, error) {
	if stuck := t.stuck[event.Tenant]; stuck != nil {
		<-stuck
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, event)
	return quota.Counted, t.err
}

func (t *taker) Change(_ context.Context, change quota.StaffChange) (quota.Staffing, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changes = append(t.changes, change)
	return quota.Applied, t.err
}
