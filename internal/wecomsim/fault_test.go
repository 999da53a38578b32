package wecomsim

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
)

func TestFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		rule    fault.Rule
		applied bool
		code    int  // told to the client
		http    int  // told to the client; 0: no answer
		reset   bool // the client sees a reset, else its own deadline
		ledger  int  // status in the ledger
	}{
		"system busy, no effect":      {fault.Rule{Action: fault.ErrCode, ErrCode: -1}, false, -1, 200, false, 200},
		"system busy, with effect":    {fault.Rule{Action: fault.ErrCode, ErrCode: -1, Phase: fault.After}, true, -1, 200, false, 200},
		"a code nobody knows":         {fault.Rule{Action: fault.ErrCode, ErrCode: 99999}, false, 99999, 200, false, 200},
		"502, no effect":              {fault.Rule{Action: fault.Status, Status: 502}, false, 0, 502, false, 502},
		"503, with effect":            {fault.Rule{Action: fault.Status, Status: 503, Phase: fault.After}, true, 0, 503, false, 503},
		"time-out before the effect":  {fault.Rule{Action: fault.Timeout}, false, 0, 0, false, 0},
		"time-out after the effect":   {fault.Rule{Action: fault.Timeout, Phase: fault.After}, true, 0, 0, false, 0},
		"hang that ends before":       {fault.Rule{Action: fault.Timeout, Hang: time.Second}, false, 0, 0, true, 0},
		"hang that ends, with effect": {fault.Rule{Action: fault.Timeout, Hang: time.Second, Phase: fault.After}, true, 0, 0, true, 0},
		"reset before the effect":     {fault.Rule{Action: fault.Reset}, false, 0, 0, true, 0},
		"reset after the effect":      {fault.Rule{Action: fault.Reset, Phase: fault.After}, true, 0, 0, true, 0},
		"by API":                      {fault.Rule{Action: fault.Reset, API: "update_contact_way"}, false, 0, 0, true, 0},
		"by member":                   {fault.Rule{Action: fault.Reset, Member: "u2"}, false, 0, 0, true, 0},
		"another API":                 {fault.Rule{Action: fault.Reset, API: "del_contact_way"}, true, 0, 200, false, 200},
		"another member":              {fault.Rule{Action: fault.Reset, Member: "u9"}, true, 0, 200, false, 200},
		"another corp":                {fault.Rule{Action: fault.Reset, Corp: "ww9"}, true, 0, 200, false, 200},
		"another way":                 {fault.Rule{Action: fault.Reset, ConfigID: "w9"}, true, 0, 200, false, 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, Options{Now: time.Now})
				id := h.add(`{"type":2,"scene":2,"user":["u1"]}`)
				_, err := h.sim.AddFault(tc.rule)
				h.must(err)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				got, err := h.try(ctx, http.MethodPost, "/cgi-bin/externalcontact/update_contact_way?access_token="+h.token,
					`{"config_id":"`+id+`","user":["u2"]}`)
				switch {
				case tc.http != 0 && (err != nil || got.HTTP != tc.http || got.ErrCode != tc.code):
					t.Errorf("answer http %d, errcode %d, %v; want http %d, errcode %d", got.HTTP, got.ErrCode, err, tc.http, tc.code)
				case tc.reset && !errors.Is(err, syscall.ECONNRESET):
					t.Errorf("error %v, want a reset", err)
				case tc.http == 0 && !tc.reset && !errors.Is(err, context.DeadlineExceeded):
					t.Errorf("error %v, want the client's deadline", err)
				}
				synctest.Wait()
				w, _ := h.sim.Way(corpID, id)
				if applied := w.Users[0] == "u2"; applied != tc.applied {
					t.Errorf("applied %v, want %v", applied, tc.applied)
				}
				e := h.lastCall()
				if !e.Applied.IsZero() != tc.applied || e.HTTPStatus != tc.ledger {
					t.Errorf("ledger %+v", e)
				}
				if plain := tc.http == 200 && tc.code == 0; (e.Fault == "") != plain {
					t.Errorf("the ledger names the fault %q", e.Fault)
				}
			})
		})
	}
}

func TestCountersKeepFaultsApart(t *testing.T) {
	h := newHarness(t, Options{})
	_, err := h.sim.AddFault(fault.Rule{API: "list_contact_way", Action: fault.ErrCode, ErrCode: -1, Count: 1})
	h.must(err)
	h.call("list_contact_way", `{}`)
	h.call("list_contact_way", `{}`)
	got := h.sim.Counters().Calls
	if len(got) != 3 || got[1] != (CallCount{"list_contact_way", -1, "errcode_before", 1}) || got[2] != (CallCount{"list_contact_way", 0, "", 1}) {
		t.Errorf("counters %+v", got)
	}
	if rules := h.sim.Faults(); len(rules) != 1 || rules[0].Hits != 1 || !h.sim.RemoveFault(rules[0].ID) {
		t.Errorf("rules %+v", rules)
	}
}

func TestAClientThatGivesUpDoesNotStopTheEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, Options{Now: time.Now})
		id := h.add(`{"type":2,"scene":2,"user":["u1"]}`)
		h.must(h.sim.SetLatency(Latency{P50: 10 * time.Second}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := h.try(ctx, http.MethodPost, "/cgi-bin/externalcontact/update_contact_way?access_token="+h.token,
			`{"config_id":"`+id+`","user":["u2"]}`)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v", err)
		}
		<-time.After(5 * time.Second) // fake time, beyond the middle of the latency
		synctest.Wait()
		if w, _ := h.sim.Way(corpID, id); w.Users[0] != "u2" {
			t.Error("the effect did not come")
		}
	})
}

// Over real sockets: what a client sees is what the rule says.
func TestFaultsOverTCP(t *testing.T) {
	h := newHarness(t, Options{})
	server := httptest.NewServer(h.sim.Handler())
	defer server.Close()
	client := server.Client()
	client.Timeout = 10 * time.Second
	for action, want := range map[fault.Action]func(error) bool{
		fault.Reset:   func(err error) bool { return errors.Is(err, syscall.ECONNRESET) },
		fault.Timeout: func(err error) bool { var n net.Error; return errors.As(err, &n) && n.Timeout() },
	} {
		h.sim.ClearFaults()
		_, err := h.sim.AddFault(fault.Rule{Action: action})
		h.must(err)
		if action == fault.Timeout {
			client.Timeout = 50 * time.Millisecond
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			server.URL+"/cgi-bin/externalcontact/list_contact_way?access_token="+h.token, strings.NewReader("{}"))
		h.must(err)
		resp, err := client.Do(req)
		if err == nil {
			h.must(resp.Body.Close())
		}
		if !want(err) {
			t.Errorf("%s: %v", action, err)
		}
	}
	if got := h.lastCall().IP; got != "127.0.0.1" {
		t.Errorf("IP of a connection: %s", got)
	}
}

func TestCutWithoutAConnectionIs502(t *testing.T) {
	w := httptest.NewRecorder()
	cut(w)
	if w.Code != http.StatusBadGateway {
		t.Errorf("status %d", w.Code)
	}
}

func TestCloseCutsWhatHangs(t *testing.T) {
	h := newHarness(t, Options{})
	_, err := h.sim.AddFault(fault.Rule{Action: fault.Timeout, Hang: time.Hour})
	h.must(err)
	failed := make(chan error, 1)
	go func() {
		_, err := h.try(t.Context(), http.MethodGet, "/cgi-bin/gettoken?corpid=ww1&corpsecret=s1", "")
		failed <- err
	}()
	eventually(t, "the call to hang", func() bool { return h.sim.Counters().Of("gettoken", 0) == 2 }) // beside the harness's own
	h.sim.Close()
	if err := wait(t, failed, "the call to be cut"); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error %v", err)
	}
	if _, err := h.try(t.Context(), http.MethodGet, "/", ""); !errors.Is(err, ErrClosed) {
		t.Errorf("a call after Close: %v", err)
	}
	if _, err := h.sim.StartScans(t.Context(), Scans{Codes: []ScanCode{{}}, Rate: 1}); !errors.Is(err, ErrClosed) {
		t.Errorf("scans after Close: %v", err)
	}
}
