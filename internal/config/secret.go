package config

import (
	"encoding/base64"
	"log/slog"
	"strings"
)

// Redacted is what is shown in place of a secret.
const Redacted = "[redacted]"

// Secret is a text that no log, error or screen may show. Every way of
// printing it yields [Redacted]; [Secret.Reveal] is the only way to the text.
type Secret struct{ text string }

// NewSecret wraps a secret that did not come from the environment.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the secret itself, for the client that needs it.
func (s Secret) Reveal() string { return s.text }

// Set reports whether there is a secret.
func (s Secret) Set() bool { return s.text != "" }

// UnmarshalText takes the secret as it is.
func (s *Secret) UnmarshalText(text []byte) error {
	s.text = string(text)
	return nil
}

// String returns [Redacted], or nothing when there is no secret.
func (s Secret) String() string { return hide(s.text) }

// GoString keeps %#v from showing the secret.
func (s Secret) GoString() string { return s.String() }

// LogValue keeps slog from showing the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps encoders from showing the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func hide(text string) string {
	if text == "" {
		return ""
	}
	return Redacted
}

// SecretURL is a URL that may hold a password: printed, it shows scheme, hosts
// and path, but neither user and password nor the query.
type SecretURL struct{ text string }

// NewSecretURL wraps a URL that did not come from the environment.
func NewSecretURL(text string) SecretURL { return SecretURL{text} }

// Reveal returns the whole URL, for the client that connects to it.
func (u SecretURL) Reveal() string { return u.text }

// Set reports whether there is a URL.
func (u SecretURL) Set() bool { return u.text != "" }

// UnmarshalText takes the URL as it is.
func (u *SecretURL) UnmarshalText(text []byte) error {
	u.text = string(text)
	return nil
}

// String returns the URL without what may be secret in it.
func (u SecretURL) String() string { return redactURL(u.text) }

// GoString keeps %#v from showing the whole URL.
func (u SecretURL) GoString() string { return u.String() }

// LogValue keeps slog from showing the whole URL.
func (u SecretURL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText keeps encoders from showing the whole URL.
func (u SecretURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// redactURL works on the text, so that a URL too broken to be parsed is
// redacted too: all up to the last @ is taken for user and password.
func redactURL(text string) string {
	if text == "" {
		return ""
	}
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return Redacted
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = Redacted + rest[at:]
	}
	if query := strings.IndexAny(rest, "?#"); query >= 0 {
		rest = rest[:query+1] + Redacted
	}
	return scheme + "://" + rest
}

// SealKey is a key of 32 bytes for AES-256; no printing shows it. The zero
// value is no key.
type SealKey struct{ key []byte }

// Reveal returns the 32 bytes, nil when there is no key. The caller does not
// change them.
func (k SealKey) Reveal() []byte { return k.key }

// Set reports whether there is a key.
func (k SealKey) Set() bool { return len(k.key) > 0 }

// UnmarshalText reads 32 bytes in standard base64. The error never holds them.
func (k *SealKey) UnmarshalText(text []byte) error {
	key, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return &valueError{"is not base64"}
	}
	if len(key) != 32 {
		return &valueError{"does not hold 32 bytes"}
	}
	k.key = key
	return nil
}

// String returns [Redacted], or nothing when there is no key.
func (k SealKey) String() string { return hide(string(k.key)) }

// GoString keeps %#v from showing the key.
func (k SealKey) GoString() string { return k.String() }

// LogValue keeps slog from showing the key.
func (k SealKey) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText keeps encoders from showing the key.
func (k SealKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
