package config

import (
	"log/slog"

	"github.com/rollcall-dev/rollcall/internal/seal"
)

// Seal says with what the secrets in MongoDB are sealed.
type Seal struct {
	Keys SealKeys `envconfig:"ROLLCALL_SEAL_KEYS" accept:"keys" desc:"Seals the secrets of tenants in MongoDB: app secrets, callback keys, webhooks. The first key seals, all open; docs/secrets.md says how one is replaced. Without it secrets that are there in clear are read, and none is written."`
}

// SealKeys is a keyring; no printing shows a key. The zero value has none.
type SealKeys struct{ ring *seal.Keyring }

// Ring returns the keyring; nil, which is an empty one, when none is set.
func (k SealKeys) Ring() *seal.Keyring { return k.ring }

// UnmarshalText reads "id:base64,id:base64". The error never holds a key.
func (k *SealKeys) UnmarshalText(text []byte) error {
	ring, err := seal.ParseKeys(string(text))
	if err != nil {
		return &valueError{"is not a list of keys: " + err.Error()}
	}
	k.ring = ring
	return nil
}

// String returns [Redacted], or nothing when there is no key.
func (k SealKeys) String() string { return hide(k.ring.Sealing()) }

// GoString keeps %#v from showing more.
func (k SealKeys) GoString() string { return k.String() }

// LogValue keeps slog from showing more.
func (k SealKeys) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText keeps encoders from showing more.
func (k SealKeys) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
