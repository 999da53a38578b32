package wecomsim

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
)

const (
	callbackToken = "QDG6eK"
	callbackKey   = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
)

func TestCallbackIsSealedForItsReceiver(t *testing.T) {
	for name, tc := range map[string]struct {
		receiveID, want string
	}{
		"own app":  {"", corpID},
		"provider": {"suite1", "suite1"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, Options{})
			got := make(chan string, 1)
			codec, err := wecomcrypto.New(callbackToken, callbackKey, tc.want)
			h.must(err)
			h.serveCallbacks(tc.receiveID, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				message, err := codec.Open(wecomcrypto.StampOf(r.URL.Query()), body)
				if err != nil || r.Method != http.MethodPost || r.URL.Query().Get("tenant") != "1" {
					t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
				}
				got <- string(message)
			})
			h.must(h.sim.Emit(t.Context(), Event{
				Corp: corpID, ChangeType: AddExternalContact, UserID: "u1", ExternalUserID: "wm1", State: "s", WelcomeCode: "wc1",
			}))
			want := "<xml><ToUserName><![CDATA[ww1]]></ToUserName><FromUserName><![CDATA[sys]]></FromUserName><CreateTime>1700000000</CreateTime>" +
				"<MsgType><![CDATA[event]]></MsgType><Event><![CDATA[change_external_contact]]></Event><ChangeType><![CDATA[add_external_contact]]></ChangeType>" +
				"<UserID><![CDATA[u1]]></UserID><ExternalUserID><![CDATA[wm1]]></ExternalUserID><State><![CDATA[s]]></State><WelcomeCode><![CDATA[wc1]]></WelcomeCode></xml>"
			if diff := cmp.Diff(want, wait(t, got, "the callback")); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventOfContacts(t *testing.T) {
	body, err := Event{
		Corp: "c", Event: ChangeContact, ChangeType: UpdateUser, UserID: "u]]>1", NewUserID: "u2", Department: "1,2", Status: 5,
		CreateTime: time.Unix(7, 0),
	}.XML()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		CreateTime                                               int64
		Event, ChangeType, UserID, NewUserID, Department, Status string
		State                                                    *string
	}
	if err := xml.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if got.CreateTime != 7 || got.Event != "change_contact" || got.ChangeType != "update_user" || got.UserID != "u]]>1" ||
		got.NewUserID != "u2" || got.Department != "1,2" || got.Status != "5" || got.State != nil {
		t.Errorf("event %+v of %s", got, body)
	}
}

func TestCallbackIsTriedThreeTimes(t *testing.T) {
	down := errors.New("down")
	for name, tc := range map[string]struct {
		failures int
		attempts uint64
		err      error
	}{
		"answered at once":  {0, 1, nil},
		"at the second":     {1, 2, nil},
		"at the third":      {2, 3, nil},
		"given up":          {3, 3, down},
		"never more than 3": {9, 3, down},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, Options{Now: time.Now})
				n := 0
				events := h.deliver(func(context.Context, Event) error {
					if n++; n <= tc.failures {
						return down
					}
					return nil
				})
				err := h.sim.Emit(t.Context(), Event{Corp: corpID, ChangeType: DeleteUser, UserID: "u1"})
				if !errors.Is(err, tc.err) {
					t.Errorf("error %v, want %v", err, tc.err)
				}
				c := h.sim.Counters()
				if c.Attempts != tc.attempts || c.Events != 1 || (c.GivenUp == 1) != (tc.err != nil) || len(events.all()) != int(c.Delivered) {
					t.Errorf("counters %+v, %d events", c, len(events.all()))
				}
			})
		})
	}
}

func TestCallbackWaitsFiveSecondsForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, Options{Now: time.Now})
		h.deliver(func(ctx context.Context, _ Event) error { <-ctx.Done(); return ctx.Err() })
		began := time.Now()
		err := h.sim.Emit(t.Context(), Event{Corp: corpID, ChangeType: DeleteUser})
		if took := time.Since(began); took != 17*time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("gave up after %v (three times 5 s and two pauses of 1 s), %v", took, err)
		}
	})
}

func TestCallbackEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, Options{Now: time.Now, Callbacks: CallbackRules{Wait: time.Hour}})
		h.deliver(func(context.Context, Event) error { return errors.New("down") })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := h.sim.Emit(ctx, Event{Corp: corpID}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestOnly200IsAnAnswer(t *testing.T) {
	h := newHarness(t, Options{Callbacks: CallbackRules{Wait: time.Millisecond}})
	var mu sync.Mutex
	var nonces []string
	answers := []int{http.StatusInternalServerError, http.StatusFound, http.StatusOK}
	h.serveCallbacks("", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		nonces = append(nonces, r.URL.Query().Get("nonce"))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(answers[len(nonces)-1])
	})
	h.must(h.sim.Emit(t.Context(), Event{Corp: corpID, ChangeType: DeleteUser}))
	if len(nonces) != 3 || nonces[0] == nonces[1] {
		t.Errorf("nonces %v: want three attempts, each with its own", nonces)
	}
}

func TestErrorsOfCallbacksHoldNoURL(t *testing.T) {
	h := newHarness(t, Options{Callbacks: CallbackRules{Wait: time.Millisecond}})
	h.must(h.sim.SetCorp(Corp{ID: corpID, Callback: Callback{URL: "http://127.0.0.1:1/hush", Token: callbackToken, EncodingAESKey: callbackKey}}))
	for _, err := range []error{h.sim.Emit(t.Context(), Event{Corp: corpID}), h.sim.VerifyURL(t.Context(), corpID)} {
		if err == nil || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "signature") {
			t.Errorf("error %v", err)
		}
	}
}

func TestEventsGoNowhereWithoutACallback(t *testing.T) {
	h := newHarness(t, Options{})
	h.must(h.sim.Emit(t.Context(), Event{Corp: corpID}))
	if err := h.sim.Emit(t.Context(), Event{Corp: "nobody"}); !errors.Is(err, ErrUnknownCorp) {
		t.Errorf("unknown corp: %v", err)
	}
	if err := h.sim.VerifyURL(t.Context(), "nobody"); !errors.Is(err, ErrUnknownCorp) {
		t.Errorf("unknown corp: %v", err)
	}
	if err := h.sim.VerifyURL(t.Context(), corpID); err == nil {
		t.Error("a callback without a URL is verified")
	}
}

func TestVerifyURL(t *testing.T) {
	codec, err := wecomcrypto.New(callbackToken, callbackKey, corpID)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		answer func(w http.ResponseWriter, text []byte)
		want   string
	}{
		"bare text":  {func(w http.ResponseWriter, text []byte) { _, _ = w.Write(text) }, ""},
		"quoted":     {func(w http.ResponseWriter, text []byte) { fmt.Fprintf(w, "%q", text) }, "not the text"},
		"a new line": {func(w http.ResponseWriter, text []byte) { fmt.Fprintln(w, string(text)) }, "not the text"},
		"refused":    {func(w http.ResponseWriter, _ []byte) { w.WriteHeader(http.StatusForbidden) }, "http 403"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, Options{})
			h.serveCallbacks("", func(w http.ResponseWriter, r *http.Request) {
				text, err := codec.OpenEcho(wecomcrypto.StampOf(r.URL.Query()), r.URL.Query().Get("echostr"))
				if err != nil || r.Method != http.MethodGet {
					t.Errorf("%s: %v", r.Method, err)
				}
				tc.answer(w, text)
			})
			err := h.sim.VerifyURL(t.Context(), corpID)
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// serveCallbacks points the corp's callback at a server of its own.
func (h *harness) serveCallbacks(receiveID string, handler http.HandlerFunc) {
	h.tb.Helper()
	server := httptest.NewServer(handler)
	h.tb.Cleanup(server.Close)
	h.must(h.sim.SetCorp(Corp{ID: corpID, Apps: []App{{Secret: secret}}, Callback: Callback{
		URL: server.URL + "/callback?tenant=1", Token: callbackToken, EncodingAESKey: callbackKey, ReceiveID: receiveID,
	}}))
}
