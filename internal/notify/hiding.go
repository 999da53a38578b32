package notify

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// String is the URL's scheme and host: paths and queries of receivers often
// hold a token.
func (w Webhook) String() string {
	scheme, rest, found := strings.Cut(w.URL, "://")
	if !found {
		return ""
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return scheme + "://" + rest
}

// Format hides the secret from every verb.
func (w Webhook) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, w.String()) }

// LogValue hides the secret from log/slog.
func (w Webhook) LogValue() slog.Value { return slog.StringValue(w.String()) }

// MarshalText hides the secret from encoders.
func (w Webhook) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// String says whether there is a robot.
func (r Robot) String() string {
	if r.Key == "" {
		return ""
	}
	return "[redacted]"
}

// Format hides the key from every verb.
func (r Robot) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// LogValue hides the key from log/slog.
func (r Robot) LogValue() slog.Value { return slog.StringValue(r.String()) }

// MarshalText hides the key from encoders.
func (r Robot) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
