package redistoken

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"strings"
)

// The first byte of a stored token says how the rest is to be read.
const (
	inClear = "c"
	sealed  = "s" // AES-GCM, nonce first
)

// sealer closes and opens what lies in Redis.
type sealer struct{ aead cipher.AEAD } // nil: in clear

func newSealer(key []byte) (sealer, error) {
	if len(key) == 0 {
		return sealer{}, nil
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, errors.New("the key for sealing tokens is not 16, 24 or 32 bytes long")
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return sealer{}, errors.New("AES-GCM is not available")
	}
	return sealer{aead: aead}, nil
}

// close seals plain for one Redis key: moved to another it does not open, so
// whoever can write to this Redis cannot give a tenant another's token. One key
// is good for 2³² random nonces: over 30 years for 30 000 tenants with a token
// every two hours.
func (s sealer) close(plain []byte, name string) string {
	if s.aead == nil {
		return inClear + string(plain)
	}
	box := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(plain)+s.aead.Overhead())
	_, _ = rand.Read(box) // never fails: crypto/rand ends the process first
	return sealed + string(s.aead.Seal(box, box, plain, []byte(name)))
}

// open returns what was closed; false when it is not of this key. With a key
// what lies in clear is not trusted.
func (s sealer) open(raw, name string) ([]byte, bool) {
	if s.aead == nil {
		plain, ok := strings.CutPrefix(raw, inClear)
		return []byte(plain), ok
	}
	box, ok := strings.CutPrefix(raw, sealed)
	if !ok || len(box) < s.aead.NonceSize() {
		return nil, false
	}
	nonce, secret := box[:s.aead.NonceSize()], box[s.aead.NonceSize():]
	plain, err := s.aead.Open(nil, []byte(nonce), []byte(secret), []byte(name))
	return plain, err == nil
}
