//go:build integration

package e2e_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

// The roles that start while the broker is away live on, and are at work soon
// after it is back: nobody has to restart them.
func TestRolesWaitForABrokerThatIsAwayWhenTheyStart(t *testing.T) {
	h := newHouse(t, wecomsim.Options{})
	h.tenant("acme", "amy")
	h.code(roster.Code{ID: "code-" + h.cfg.MongoDB.Database, Tenant: "acme"}, "amy")
	code := "code-" + h.cfg.MongoDB.Database

	var doors []*door
	for name, role := range map[string]func(context.Context, config.Config, string, ...service.Seams) error{
		"refresher": service.RunRefresher, "keeper": service.RunKeeper, "ingress": service.RunIngress,
	} {
		door := newDoor(t, h.cfg.Pulsar.URL)
		doors = append(doors, door)
		cfg := h.cfg
		cfg.Pulsar.URL, cfg.Ingress.Addr, cfg.Refresher.Instance = "pulsar://"+door.Addr().String(), "127.0.0.1:0", name
		cfg.Pulsar.ConnectTimeout, cfg.Pulsar.OperationTimeout = time.Second, 2*time.Second
		h.run(name, func(ctx context.Context) error { return role(ctx, cfg, "test") })
	}

	h.publish("acme", code)
	for _, door := range doors {
		eventually(t, time.Minute, "each role has tried several times", func() bool { return door.turnedAway.Load() >= 3 })
	}
	if got := h.listed("acme", code); !slices.Equal(got, []string{"nobody"}) {
		t.Fatalf("listed %v before the broker was there", got)
	}
	for _, door := range doors {
		door.open.Store(true)
	}
	eventually(t, time.Minute, "the event is worked on", func() bool { return slices.Equal(h.listed("acme", code), []string{"amy"}) })
}

// door is the way to the broker. Closed, it turns everybody away.
type door struct {
	net.Listener
	open       atomic.Bool
	turnedAway atomic.Int64
}

func newDoor(t *testing.T, brokerURL string) *door {
	t.Helper()
	to, err := url.Parse(brokerURL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{Listener: l}
	// Not the test's own context: that ends before the roles are asked to stop.
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			if !d.open.Load() {
				d.turnedAway.Add(1)
				_ = in.Close()
				continue
			}
			passing.Go(func() { pass(ctx, in, to.Host) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		stop()
		passing.Wait()
	})
	return d
}

// pass carries one connection until either side or the test ends.
func pass(ctx context.Context, in net.Conn, to string) {
	out, err := new(net.Dialer).DialContext(ctx, "tcp", to)
	if err != nil {
		_ = in.Close()
		return
	}
	closeBoth := func() {
		_ = in.Close()
		_ = out.Close()
	}
	defer context.AfterFunc(ctx, closeBoth)()
	var ways sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		ways.Go(func() {
			defer closeBoth()
			_, _ = io.Copy(way[0], way[1])
		})
	}
	ways.Wait()
}
