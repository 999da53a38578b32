package wecom_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

func TestWeComAnswersAGreetingAndSaysFromWhere(t *testing.T) {
	sim := wecomsim.New(wecomsim.Options{})
	defer sim.Close()
	endpoint := newEndpoint(t, wecom.EndpointOptions{HTTP: &http.Client{Transport: sim.Client("192.0.2.1").Transport}})
	g, err := endpoint.Greet(t.Context())
	if err != nil || g.Address != "192.0.2.1" {
		t.Errorf("Greet() = %+v, %v; want our address", g, err)
	}
}

func TestTheClockOfAGreetingIsItsDate(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			t.Errorf("asked with %q; nothing may be counted against anybody", r.URL.RawQuery)
		}
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		_, _ = io.WriteString(w, `{"errcode":41004,"errmsg":"corpsecret missing"}`)
	}))
	defer server.Close()
	g, err := newEndpoint(t, wecom.EndpointOptions{BaseURL: server.URL}).Greet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if off := (g.Clock.Ahead - time.Hour).Abs(); off > g.Clock.Within {
		t.Errorf("%+v is off by %s", g.Clock, off)
	}
}

func TestWhoIsNotWeComIsNotTakenForIt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>login</html>") }))
	defer server.Close()
	_, err := newEndpoint(t, wecom.EndpointOptions{BaseURL: server.URL}).Greet(t.Context())
	if err == nil || !strings.Contains(err.Error(), "not WeCom's JSON") {
		t.Errorf("Greet() = %v", err)
	}
}

func TestAddressIn(t *testing.T) {
	for errmsg, want := range map[string]string{
		"not allow to access from your ip, hint: [1653710540075724015410106], from ip: 1.2.3.4, more info at https://x": "1.2.3.4",
		"…, from ip: 2001:db8::1, more info": "2001:db8::1",
		"ok":                                 "",
	} {
		if got := wecom.AddressIn(errmsg); got != want {
			t.Errorf("AddressIn(%q) = %q", errmsg, got)
		}
	}
}
