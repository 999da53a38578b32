package pulsarbus

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestTheClientsWireTrafficIsNotLogged(t *testing.T) {
	var out bytes.Buffer
	whole := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	client := Options{URL: "pulsar://x", Logger: whole}.withDefaults().clientOptions().Logger.SubLogger(map[string]any{"topic": "t"})
	client.Debug("Got command")
	newClientLog(whole).WithGroup("g").With("a", 1).Debug("Write data")
	if out.Len() != 0 {
		t.Errorf("logged %s", &out)
	}
	client.Info("Connected consumer")
	if got := out.String(); !strings.Contains(got, "Connected consumer") || !strings.Contains(got, "topic=t") {
		t.Errorf("logged %q; want what the client says at info", got)
	}
}
