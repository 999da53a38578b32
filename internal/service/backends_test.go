package service

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rollcall-dev/rollcall/internal/adapter/tlsfile"
	"github.com/rollcall-dev/rollcall/internal/adapter/tlsfile/tlsfiletest"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

func TestClosersRunLastToFirstAndTellEveryError(t *testing.T) {
	var order []string
	first, last := errors.New("first"), errors.New("last")
	var c closers
	c.add(func(context.Context) error { order = append(order, "first"); return first })
	c.add(func(context.Context) error { order = append(order, "last"); return last })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := c.close(ended, time.Second)
	if !errors.Is(err, first) || !errors.Is(err, last) || strings.Join(order, " ") != "last first" {
		t.Errorf("close() = %v in the order %v", err, order)
	}
}

func TestClosersGetTimeThoughTheContextHasEnded(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var c closers
	c.add(func(ctx context.Context) error { return ctx.Err() })
	if err := c.close(ended, time.Minute); err != nil {
		t.Errorf("a closer saw %v; it has a minute", err)
	}
}

func TestTokenComesFromTheVariableOrIsReadAnewFromItsFile(t *testing.T) {
	if token(config.Pulsar{}) != nil {
		t.Error("a token without a setting")
	}
	got, err := token(config.Pulsar{Token: config.NewSecret("from-variable")})()
	if got != "from-variable" || err != nil {
		t.Errorf("token() = %q, %v", got, err)
	}
	file := filepath.Join(t.TempDir(), "token")
	read := token(config.Pulsar{TokenFile: file})
	for _, want := range []string{"first", "rotated"} {
		if err := os.WriteFile(file, []byte(want+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := read(); got != want || err != nil {
			t.Errorf("token() = %q, %v; want %q", got, err, want)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := read(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("token() of a missing file = %v", err)
	}
}

func TestBadRedisURLIsNotRepeated(t *testing.T) {
	cfg := config.Redis{URL: config.NewSecretURL("redis://user:hunter2@host:port-is-no-number/x")}
	_, err := openRedis(cfg, &telemetry.Telemetry{Tracers: noop.NewTracerProvider()})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("openRedis() = %v; want an error without the password", err)
	}
}

func TestRedisOverTLSFromFiles(t *testing.T) {
	authority := tlsfiletest.New(t)
	config := authority.Server()
	config.ClientAuth = tls.RequireAndVerifyClientCert
	server := miniredis.NewMiniRedis()
	if err := server.StartTLS(config); err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	files := authority.Issue("refresher")
	stranger := tlsfiletest.New(t)
	strangers := stranger.Issue("stranger")
	for name, tt := range map[string]struct {
		files tlsfile.Files
		want  string
	}{
		"ours":                                  {files, ""},
		"a server of another authority":         {tlsfile.Files{CA: stranger.CAFile, Cert: files.Cert, Key: files.Key}, "unknown authority"},
		"no certificate of ours":                {tlsfile.Files{CA: authority.CAFile}, "certificate required"},
		"a certificate of another authority":    {tlsfile.Files{CA: authority.CAFile, Cert: strangers.Cert, Key: strangers.Key}, "tls:"},
		"the system's authorities do not do it": {tlsfile.Files{Cert: files.Cert, Key: files.Key}, "unknown authority"},
	} {
		err := pingRedis(t, "rediss://:hunter2@"+server.Addr(), tt.files)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v; want %q", name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: a secret in the error: %v", name, err)
		}
	}
}

func TestRedisFilesAreReadAgainForEachConnection(t *testing.T) {
	authority := tlsfiletest.New(t)
	files := authority.Issue("refresher")
	dial, err := tlsDialer(files, nil, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", authority.Server())
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	first := shownTo(t, listener, dial)
	authority.Issue("refresher")
	if second := shownTo(t, listener, dial); second == first {
		t.Error("the old certificate was shown once more")
	}
	// Another authority has issued the server's certificate by now, and the file says so.
	other := tlsfiletest.New(t)
	pem, err := os.ReadFile(other.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files.CA, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	moved, err := tls.Listen("tcp", "127.0.0.1:0", other.Server())
	if err != nil {
		t.Fatal(err)
	}
	defer moved.Close()
	go func() { _ = greetOnce(moved) }()
	conn, err := dial(t.Context(), "tcp", moved.Addr().String())
	if err != nil {
		t.Fatalf("the new authority is not trusted: %v", err)
	}
	_ = conn.Close()
}

// shownTo is the serial number of the certificate that a dial shows.
func shownTo(t *testing.T, listener net.Listener, dial func(context.Context, string, string) (net.Conn, error)) string {
	t.Helper()
	met := make(chan string, 1)
	go func() { met <- greetOnce(listener) }()
	conn, err := dial(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return <-met
}

func greetOnce(listener net.Listener) (serial string) {
	conn, err := listener.Accept()
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	secured, ok := conn.(*tls.Conn)
	if !ok || secured.Handshake() != nil || len(secured.ConnectionState().PeerCertificates) == 0 {
		return "none"
	}
	return secured.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

func pingRedis(t *testing.T, url string, files tlsfile.Files) error {
	t.Helper()
	client, err := openRedis(config.Redis{
		URL: config.NewSecretURL(url), Timeout: 2 * time.Second, MaxPool: 1,
		TLSCAFile: files.CA, TLSCertFile: files.Cert, TLSKeyFile: files.Key,
	}, &telemetry.Telemetry{Tracers: noop.NewTracerProvider()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	err = client.Ping(t.Context()).Err()
	if err != nil && strings.HasPrefix(err.Error(), "ERR") {
		return nil // it answers over TLS; whether the password is right is not the question
	}
	return err
}
