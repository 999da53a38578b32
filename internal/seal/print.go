package seal

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// String names the keys by their IDs.
func (k Keyring) String() string { return "keys [" + strings.Join(k.IDs(), " ") + "]" }

// GoString is String: %#v shows no key either.
func (k Keyring) GoString() string { return k.String() }

// Format is String for every verb.
func (k Keyring) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// LogValue is String for log/slog.
func (k Keyring) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText is String for encoders.
func (k Keyring) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
