package mongostore

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/tlsfile"
	"github.com/rollcall-dev/rollcall/internal/adapter/tlsfile/tlsfiletest"
)

func TestAServerOfAnotherAuthorityIsRefusedWithoutASecret(t *testing.T) {
	address, _ := greetings(t, tlsfiletest.New(t).Server())
	err := ping(t, address, tlsfile.Files{CA: tlsfiletest.New(t).CAFile})
	if err == nil || !strings.Contains(err.Error(), "unknown authority") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Ping() = %v; want the refusal and no password", err)
	}
}

func TestOurCertificateIsShownAndReadAgain(t *testing.T) {
	authority := tlsfiletest.New(t)
	address, met := greetings(t, authority.Server())
	files := authority.Issue("refresher")
	db := openTLS(t, address, files)
	_ = db.Ping(t.Context()) // nobody answers after the handshake
	first := <-met
	authority.Issue("refresher")
	_ = db.Ping(t.Context())
	for second := range met {
		if second != first {
			return // the new certificate
		}
		_ = db.Ping(t.Context())
	}
}

func TestFilesThatCannotBeUsedAreFoundAtTheStart(t *testing.T) {
	if _, err := Open(Options{URI: "mongodb://u:hunter2@127.0.0.1", TLS: tlsfile.Files{CA: "nowhere.pem"}}); err == nil ||
		!strings.Contains(err.Error(), "nowhere.pem") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Open() = %v", err)
	}
}

func openTLS(t *testing.T, address string, files tlsfile.Files) *Database {
	t.Helper()
	db, err := Open(Options{URI: "mongodb://u:hunter2@" + address + "/?authMechanism=PLAIN", TLS: files, Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(t.Context()) })
	return db
}

func ping(t *testing.T, address string, files tlsfile.Files) error {
	t.Helper()
	return openTLS(t, address, files).Ping(t.Context())
}

// greetings shakes hands with whoever comes, says nothing more, and tells the
// serial number of each certificate that it is shown.
func greetings(t *testing.T, config *tls.Config) (address string, met <-chan string) {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	serials := make(chan string, 1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			greet(t, conn, serials)
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return listener.Addr().String(), serials
}

func greet(t *testing.T, conn net.Conn, serials chan<- string) {
	defer conn.Close()
	secured, ok := conn.(*tls.Conn)
	if !ok || secured.HandshakeContext(t.Context()) != nil {
		return
	}
	for _, cert := range secured.ConnectionState().PeerCertificates {
		serials <- cert.SerialNumber.String()
	}
}
