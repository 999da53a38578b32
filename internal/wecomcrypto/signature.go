package wecomcrypto

import (
	"crypto/sha1" //nolint:gosec // WeCom signs with SHA-1 (page 90968)
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
)

// Sign returns msg_signature: the lower-case hex SHA-1 over token, timestamp,
// nonce and ciphertext, sorted and joined.
func (c *Codec) Sign(timestamp, nonce, encrypted string) string {
	parts := []string{c.token, timestamp, nonce, encrypted}
	slices.Sort(parts)
	sum := sha1.Sum([]byte(strings.Join(parts, ""))) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// Verify compares a stamp's signature with the one that the ciphertext must
// have, in constant time. It fails with ErrSignature.
func (c *Codec) Verify(stamp Stamp, encrypted string) error {
	want := c.Sign(stamp.Timestamp, stamp.Nonce, encrypted)
	if subtle.ConstantTimeCompare([]byte(want), []byte(stamp.Signature)) != 1 {
		return ErrSignature
	}
	return nil
}
