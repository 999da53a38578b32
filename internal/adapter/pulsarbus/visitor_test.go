package pulsarbus

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/tlsfile/tlsfiletest"
)

func TestABrokerOfAnotherAuthorityIsRefusedAndWhyIsSaid(t *testing.T) {
	listener, err := tls.Listen("tcp", "127.0.0.1:0", tlsfiletest.New(t).Server())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if secured, ok := conn.(*tls.Conn); ok {
				_ = secured.HandshakeContext(t.Context())
			}
			_ = conn.Close()
		}
	}()
	defer func() { _ = listener.Close(); <-done }()
	wantComplaint(t, Options{
		URL: "pulsar+ssl://" + listener.Addr().String(), TrustCertsFile: tlsfiletest.New(t).CAFile,
		Token: func() (string, error) { return "hunter2", nil },
	}, "unknown authority")
}

func TestABrokerThatIsAwayIsSaidToBe(t *testing.T) {
	wantComplaint(t, Options{URL: "pulsar://127.0.0.1:1"}, "connection refused")
}

func wantComplaint(t *testing.T, o Options, want string) {
	t.Helper()
	o.Topic, o.OperationTimeout = "persistent://public/default/visited", time.Second
	v, err := NewVisitor(o)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := v.Connect(t.Context()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Connect() = %v; want %q and no secret", err, want)
	}
}
