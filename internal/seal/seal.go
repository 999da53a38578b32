package seal

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Errors of sealing and opening. None of them holds a secret or a part of one.
var (
	// ErrNoKeys refuses to seal with a ring that has no key.
	ErrNoKeys = errors.New("there is no key to seal secrets with (ROLLCALL_SEAL_KEYS is not set)")
	// ErrMissingKey says that the ring lacks the key that a text was sealed with.
	ErrMissingKey = errors.New("the key that sealed it is not configured")
	// ErrRefused says that a text was sealed for another place, was sealed
	// with another key of the same ID, or was changed since.
	ErrRefused = errors.New("it was sealed for another place or with another key, or was changed")
	// ErrMalformed says that a text is not in the form of a sealed one.
	ErrMalformed = errors.New("it is not a sealed text of a version that is known")
)

const (
	mark    = "sealed:"
	version = "v1"
)

// encoding has one spelling for each value: a changed text never opens.
var encoding = base64.RawURLEncoding.Strict()

// IsSealed reports whether a text claims to be sealed, in whatever version.
func IsSealed(text string) bool { return strings.HasPrefix(text, mark) }

// KeyID returns the ID of the key that sealed a text; false when the text is
// not in the form of a sealed one.
func KeyID(text string) (string, bool) {
	id, _, ok := split(text)
	return id, ok
}

// Seal closes a secret with the ring's first key. about names what it belongs
// to, such as "tenant acme credentials.secret": it has to be given again to
// open the text. The error is ErrNoKeys.
func (k *Keyring) Seal(plain, about string) (string, error) {
	if k.Sealing() == "" {
		return "", ErrNoKeys
	}
	first := k.keys[0]
	box := make([]byte, first.aead.NonceSize(), first.aead.NonceSize()+len(plain)+first.aead.Overhead())
	_, _ = rand.Read(box) // never fails: crypto/rand ends the process first
	box = first.aead.Seal(box, box, []byte(plain), []byte(about))
	return mark + version + ":" + first.id + ":" + encoding.EncodeToString(box), nil
}

// Open returns the secret that was sealed for the same about. The errors are
// ErrMalformed, ErrMissingKey and ErrRefused, wrapped with the ID of the key.
func (k *Keyring) Open(sealed, about string) (string, error) {
	id, encoded, ok := split(sealed)
	if !ok {
		return "", ErrMalformed
	}
	with, found := k.find(id)
	if !found {
		return "", fmt.Errorf("key %q: %w", id, ErrMissingKey)
	}
	box, err := encoding.DecodeString(encoded)
	if err != nil || len(box) < with.aead.NonceSize() {
		return "", fmt.Errorf("key %q: %w", id, ErrMalformed)
	}
	nonce, closed := box[:with.aead.NonceSize()], box[with.aead.NonceSize():]
	plain, err := with.aead.Open(nil, nonce, closed, []byte(about))
	if err != nil {
		return "", fmt.Errorf("key %q: %w", id, ErrRefused)
	}
	return string(plain), nil
}

func split(text string) (id, encoded string, ok bool) {
	rest, ok := strings.CutPrefix(text, mark+version+":")
	if !ok {
		return "", "", false
	}
	id, encoded, ok = strings.Cut(rest, ":")
	if !ok || !validID(id) {
		return "", "", false
	}
	return id, encoded, true
}
