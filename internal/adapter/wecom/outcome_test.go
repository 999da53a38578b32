package wecom_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

// What an update's end says about WeCom: the line between "surely not applied"
// and "unknown" is what keeps the push protocol honest.
func TestOutcomeOfAnUpdate(t *testing.T) {
	t.Parallel()
	for _, m := range misfortunes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			err := m.update(t, wecom.EndpointOptions{})
			want := m.want
			if want == nil {
				if err != nil {
					t.Fatalf("want success, got %v", err)
				}
				return
			}
			got := *callError(t, err)
			got.Err, got.Message = nil, ""
			want.Op = wecom.OpUpdate
			if diff := cmp.Diff(*want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s\nerror: %v", diff, err)
			}
		})
	}
}

// Reading changes nothing, so its outcome is never unknown.
func TestOutcomeOfARead(t *testing.T) {
	t.Parallel()
	for _, m := range misfortunes() {
		if m.want == nil {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			client := wecom.NewClient(newEndpoint(t, m.options(t, wecom.EndpointOptions{})), fixedToken(tokenTag))
			_, err := client.GetContactWay(m.context(t), tenant, "c1")
			if callError(t, err).Unknown {
				t.Errorf("unknown: %v", err)
			}
		})
	}
}

// A connection that could not be had before the deadline is not written to
// when it comes after it.
func TestDeadlinePassesWhileConnecting(t *testing.T) {
	called := make(chan struct{}, 1)
	server := newServer(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil && len(body) > 0 {
			called <- struct{}{}
		}
	}))
	clock := newClock()
	transport := wecom.NewTransport(wecom.TransportOptions{})
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (conn netConn, err error) {
		conn, err = dial(ctx, network, address)
		clock.advance(3 * time.Second)
		return conn, err
	}
	t.Cleanup(transport.CloseIdleConnections)
	endpoint := newEndpoint(t, wecom.EndpointOptions{
		BaseURL: server.URL, HTTP: &http.Client{Transport: transport}, Now: clock.now,
	})
	err := wecom.NewClient(endpoint, fixedToken(tokenTag)).UpdateContactWay(t.Context(), tenant,
		wecom.UpdateContactWayRequest{ConfigID: "c1", User: []string{"amy"}, SendBy: clock.now().Add(2 * time.Second)})
	if got := callError(t, err); got.Unknown || !errors.Is(got, wecom.ErrTooLate) {
		t.Errorf("want surely not applied for being too late, got %v", got)
	}
	select {
	case <-called:
		t.Error("the call reached WeCom after its deadline")
	default:
	}
}

// An answer is read up to its bound, which is no matter of its format.
func TestAnswerTooLarge(t *testing.T) {
	const fits = `{"errcode":0,"errmsg":"ok"}`
	for limit, want := range map[int64]error{int64(len(fits)): nil, int64(len(fits)) - 1: wecom.ErrAnswerTooLarge} {
		endpoint := newEndpoint(t, wecom.EndpointOptions{HTTP: client(answers200(fits)), MaxAnswer: limit})
		err := wecom.NewClient(endpoint, fixedToken(tokenTag)).DelContactWay(t.Context(), tenant, "c1")
		if !errors.Is(err, want) {
			t.Errorf("%d bytes at most: %v, want %v", limit, err, want)
		}
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	followed := make(chan struct{}, 1)
	elsewhere := newServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed <- struct{}{} }))
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, status)
		}))
		client := wecom.NewClient(newEndpoint(t, wecom.EndpointOptions{
			BaseURL: server.URL, HTTP: &http.Client{Transport: newTransport(t)},
		}), fixedToken(tokenTag))
		err := client.UpdateContactWay(t.Context(), tenant, wecom.UpdateContactWayRequest{ConfigID: "c1", User: []string{"amy"}})
		if got := callError(t, err).HTTPStatus; got != status {
			t.Errorf("status %d, want %d", got, status)
		}
	}
	select {
	case <-followed:
		t.Error("a redirect was followed: the token went to another host")
	default:
	}
}
