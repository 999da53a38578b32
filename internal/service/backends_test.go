package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace/noop"

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
