package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Sizes of a key and of its ID, in bytes. An ID is shorter than a key in
// base64, so that neither is ever taken for the other.
const (
	KeySize  = 32
	MaxKeyID = 32
)

// Keyring is a list of keys. The zero Keyring, and a nil one, has none: it
// seals nothing and opens nothing. It does not change and is safe for
// concurrent use. Whatever prints it shows the IDs of its keys alone.
type Keyring struct{ keys []key }

// key is one key, ready for use. The bytes it was made of are not kept.
type key struct {
	id   string
	aead cipher.AEAD
}

// ParseKeys reads "id:base64,id:base64": the first key seals, all open. An ID
// has 1 to MaxKeyID characters of A-Z a-z 0-9 . _ - and a key is KeySize bytes
// in standard base64. The error names a key by its ID or its place, never by
// its text.
func ParseKeys(text string) (*Keyring, error) {
	ring := &Keyring{}
	used := map[[KeySize]byte]string{}
	for i, entry := range strings.Split(text, ",") {
		id, encoded, found := strings.Cut(strings.TrimSpace(entry), ":")
		if !found || !validID(id) {
			return nil, fmt.Errorf("key %d is not an ID, a colon and a key", i+1)
		}
		raw, err := decodeKey(encoded)
		if err != nil {
			return nil, fmt.Errorf("the key with ID %q %w", id, err)
		}
		if _, twice := ring.find(id); twice {
			return nil, fmt.Errorf("the ID %q is there twice", id)
		}
		if other, twice := used[raw]; twice {
			return nil, fmt.Errorf("%q and %q are the same key", other, id)
		}
		used[raw] = id
		made, err := newKey(id, raw)
		if err != nil {
			return nil, err
		}
		ring.keys = append(ring.keys, made)
	}
	return ring, nil
}

// Generate makes a key of random bytes and returns it as ParseKeys reads it:
// "id:base64".
func Generate(id string) string {
	var raw [KeySize]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the process first
	return id + ":" + base64.StdEncoding.EncodeToString(raw[:])
}

func decodeKey(encoded string) ([KeySize]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return [KeySize]byte{}, errors.New("is not base64") // the decoder's words may quote the key
	}
	if len(raw) != KeySize {
		return [KeySize]byte{}, fmt.Errorf("does not hold %d bytes", KeySize)
	}
	return [KeySize]byte(raw), nil
}

func newKey(id string, raw [KeySize]byte) (key, error) {
	block, err := aes.NewCipher(raw[:])
	if err != nil {
		return key{}, fmt.Errorf("AES is not available for key %q: %w", id, err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return key{}, fmt.Errorf("AES-GCM is not available for key %q: %w", id, err)
	}
	return key{id: id, aead: aead}, nil
}

func validID(id string) bool {
	if id == "" || len(id) > MaxKeyID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// IDs returns the IDs of the keys, the sealing one first.
func (k *Keyring) IDs() []string {
	if k == nil {
		return nil
	}
	ids := make([]string, len(k.keys))
	for i, one := range k.keys {
		ids[i] = one.id
	}
	return ids
}

// Sealing returns the ID of the key that seals; "" when there is none.
func (k *Keyring) Sealing() string {
	if k == nil || len(k.keys) == 0 {
		return ""
	}
	return k.keys[0].id
}

func (k *Keyring) find(id string) (key, bool) {
	if k == nil {
		return key{}, false
	}
	for _, one := range k.keys {
		if one.id == id {
			return one, true
		}
	}
	return key{}, false
}
