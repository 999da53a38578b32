package pulsarbus

import (
	"context"
	"log/slog"
)

// clientLog passes on what the Pulsar client logs from level info. At debug it
// writes down every command on the wire, several a message and payloads
// included, and the lines that somebody is looking for would drown.
type clientLog struct{ slog.Handler }

func newClientLog(log *slog.Logger) *slog.Logger { return slog.New(clientLog{log.Handler()}) }

// Enabled drops what is below info.
func (h clientLog) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo && h.Handler.Enabled(ctx, level)
}

// WithAttrs keeps the limit.
func (h clientLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return clientLog{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the limit.
func (h clientLog) WithGroup(name string) slog.Handler { return clientLog{h.Handler.WithGroup(name)} }
