// Package seal closes secrets that have to be stored, and opens them again.
//
// It owns the keyring, the form of a sealed text and what binds it to its
// place: a text that is moved to another tenant or another field does not
// open. The first key of a ring seals and every key opens, so that a key is
// replaced without a moment in which something cannot be read.
//
// It refuses to own where sealed texts are stored, who replaces those of an
// older key, and what a text that is not sealed means: it imports nothing but
// the standard library.
//
// A sealed text reads
//
//	sealed:v1:<key ID>:<base64 of nonce and AES-256-GCM ciphertext>
//
// with a random nonce of 12 bytes. One key is good for 2³² texts.
package seal
