package wecom_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

// Twice as many calls at once as there may be connections share them, and the
// next calls find them open.
func TestConnectionsAreKept(t *testing.T) {
	const conns, rounds = 4, 20
	arrived, goOn := make(chan struct{}), make(chan struct{})
	server := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-goOn
		says(http.StatusOK, `{"errcode":0,"errmsg":"ok"}`)(w, r)
	}))
	transport := wecom.NewTransport(wecom.TransportOptions{MaxConns: conns})
	t.Cleanup(transport.CloseIdleConnections)
	var dialed atomic.Int32
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialed.Add(1)
		return dial(ctx, network, address)
	}
	b := wecom.NewClient(newEndpoint(t, wecom.EndpointOptions{BaseURL: server.URL, HTTP: client(transport)}), fixedToken(tokenTag))
	for range rounds {
		var calling sync.WaitGroup
		for range 2 * conns {
			calling.Go(func() {
				if err := b.DelContactWay(t.Context(), tenant, "c1"); err != nil {
					t.Error(err)
				}
			})
		}
		for range conns {
			<-arrived
		}
		for range conns {
			goOn <- struct{}{}
			<-arrived
		}
		for range conns {
			goOn <- struct{}{}
		}
		calling.Wait()
	}
	if n := dialed.Load(); n > conns {
		t.Errorf("%d connections for %d calls, %d at once", n, rounds*conns, conns)
	}
}

// Whenever connections are closed: a call that succeeded was taken by WeCom, and
// one that is surely not applied was not.
func TestOutcomesAreTrue(t *testing.T) {
	var taken sync.Map
	server := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			taken.Store(string(body), true)
		}
		_, _ = io.WriteString(w, `{"errcode":0,"errmsg":"ok"}`)
	}))
	b := wecom.NewClient(newEndpoint(t, wecom.EndpointOptions{BaseURL: server.URL, HTTP: client(newTransport(t))}), fixedToken(tokenTag))
	ends := map[string]int{}
	for i := range 300 {
		var closing sync.WaitGroup
		if i%3 > 0 {
			closing.Go(server.CloseClientConnections)
		}
		id := strconv.Itoa(i)
		err := b.DelContactWay(t.Context(), tenant, id)
		closing.Wait()
		_, applied := taken.Load(`{"config_id":"` + id + `"}`)
		switch {
		case err == nil:
			ends["applied"]++
			if !applied {
				t.Errorf("call %s succeeded and never arrived", id)
			}
		case callError(t, err).Unknown:
			ends["unknown"]++
		default:
			ends["surely not applied"]++
			if applied {
				t.Errorf("call %s is said to be surely not applied and was taken: %v", id, err)
			}
		}
	}
	t.Log(ends)
}

func client(transport http.RoundTripper) *http.Client { return &http.Client{Transport: transport} }
