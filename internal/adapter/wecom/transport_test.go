package wecom_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

// Calls one after the other use one connection, and as many at once as may be
// keep theirs: none is opened for each call.
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
		for range conns {
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
		}
		calling.Wait()
	}
	if n := dialed.Load(); n > conns {
		t.Errorf("%d connections for %d calls, %d at once", n, rounds*conns, conns)
	}
}

// A connection that the server closed while it was idle costs nothing: nothing
// was written, so the transport takes another.
func TestIdleConnectionWasClosed(t *testing.T) {
	server := newServer(t, says(http.StatusOK, `{"errcode":0,"errmsg":"ok"}`))
	b := wecom.NewClient(newEndpoint(t, wecom.EndpointOptions{BaseURL: server.URL, HTTP: client(newTransport(t))}), fixedToken(tokenTag))
	for i := range 20 {
		if err := b.DelContactWay(t.Context(), tenant, "c1"); err != nil && !callError(t, err).Unknown {
			t.Errorf("call %d: %v", i, err)
		}
		server.CloseClientConnections()
	}
}

func client(transport http.RoundTripper) *http.Client { return &http.Client{Transport: transport} }
