package tlsfile_test

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/adapter/tlsfile"
	"github.com/rollcall-dev/rollcall/internal/adapter/tlsfile/tlsfiletest"
)

func TestAServerOfTheAuthorityIsTrusted(t *testing.T) {
	authority := tlsfiletest.New(t)
	if met := shakeHands(t, authority.Server(), tlsfile.Files{CA: authority.CAFile}); met.err != nil || met.client != "" {
		t.Errorf("handshake: %+v; want one without a certificate of ours", met)
	}
}

func TestAServerOfAnotherAuthorityIsRefused(t *testing.T) {
	met := shakeHands(t, tlsfiletest.New(t).Server(), tlsfile.Files{CA: tlsfiletest.New(t).CAFile})
	if met.err == nil || !strings.Contains(met.err.Error(), "unknown authority") {
		t.Errorf("handshake: %v; want a refusal that says why", met.err)
	}
}

func TestARotatedCertificateIsTakenByTheNextHandshake(t *testing.T) {
	authority := tlsfiletest.New(t)
	files := authority.Issue("refresher")
	config, err := files.Config()
	if err != nil {
		t.Fatal(err)
	}
	server := authority.Server()
	first := shake(t, server, config)
	authority.Issue("refresher")
	second := shake(t, server, config)
	if first.client != "refresher" || second.client != "refresher" || first.serial == second.serial {
		t.Errorf("the server met %+v and then %+v; want the new certificate", first, second)
	}
}

func TestFilesThatCannotBeUsedAreNamed(t *testing.T) {
	authority := tlsfiletest.New(t)
	files, other := authority.Issue("refresher"), authority.Issue("other")
	nothing := filepath.Join(t.TempDir(), "nothing.pem")
	if err := os.WriteFile(nothing, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]tlsfile.Files{
		"no certificate in the CA file": {CA: nothing},
		"no such CA file":               {CA: nothing + "x"},
		"another certificate's key":     {Cert: files.Cert, Key: other.Key},
		"no key in the key file":        {Cert: files.Cert, Key: nothing},
	} {
		_, err := wrong.Config()
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), ".pem") {
			t.Errorf("%s: %v; want an error that names the file", name, err)
		}
	}
}

// meeting is what the server saw of the client, and the client's error.
type meeting struct {
	client, serial string
	err            error
}

func shakeHands(t *testing.T, server *tls.Config, files tlsfile.Files) meeting {
	t.Helper()
	config, err := files.Config()
	if err != nil {
		t.Fatal(err)
	}
	return shake(t, server, config)
}

func shake(t *testing.T, server, client *tls.Config) meeting {
	t.Helper()
	client = client.Clone()
	client.ServerName = "127.0.0.1"
	listener, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	met := make(chan meeting, 1)
	go func() { met <- accept(t, listener) }()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = tls.Client(conn, client).HandshakeContext(t.Context())
	m := <-met
	m.err = err
	return m
}

func accept(t *testing.T, listener net.Listener) (m meeting) {
	raw, err := listener.Accept()
	if err != nil {
		return m
	}
	defer raw.Close()
	conn, ok := raw.(*tls.Conn)
	if !ok || conn.HandshakeContext(t.Context()) != nil {
		return m
	}
	for _, cert := range conn.ConnectionState().PeerCertificates {
		m = meeting{client: cert.Subject.CommonName, serial: cert.SerialNumber.String()}
	}
	return m
}
