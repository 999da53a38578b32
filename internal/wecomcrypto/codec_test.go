package wecomcrypto

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The vector that WeCom publishes with its sample libraries (page 90968).
const (
	vectorToken     = "QDG6eK"
	vectorKey       = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
	vectorReceiver  = "wx5823bf96d3bd56c7"
	vectorTimestamp = "1409659589"
	vectorNonce     = "263014780"
	vectorSignature = "5c45ff5e21c57e6ad56bac8758b79b1d9ac89fd3"
	vectorSalt      = "c41b64491c2468d0"
	vectorEcho      = "P9nAzCzyDtyTWESHep1vC5X9xho/qYX3Zpb4yKa9SKld1DsH3Iyt3tP3zNdtp+4RPcs8TgAE7OaBO+FZXvnaqQ=="
	vectorText      = "1616140317555161061"
)

func TestPublishedVector(t *testing.T) {
	c := vectorCodec(t)
	stamp := Stamp{Signature: vectorSignature, Timestamp: vectorTimestamp, Nonce: vectorNonce}

	text, err := c.OpenEcho(stamp, vectorEcho)
	if err != nil {
		t.Fatalf("OpenEcho: %v", err)
	}
	if diff := cmp.Diff(vectorText, string(text)); diff != "" {
		t.Errorf("plaintext (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(vectorSignature, c.Sign(vectorTimestamp, vectorNonce, vectorEcho)); diff != "" {
		t.Errorf("signature (-want +got):\n%s", diff)
	}
	got, err := c.encryptSalted([saltLength]byte([]byte(vectorSalt)), []byte(vectorText))
	if err != nil {
		t.Fatalf("encrypt: %v", err)
	}
	if diff := cmp.Diff(vectorEcho, got); diff != "" {
		t.Errorf("ciphertext with the vector's random prefix (-want +got):\n%s", diff)
	}
}

func TestRoundTripOfEveryLengthAroundABlock(t *testing.T) {
	c := vectorCodec(t)
	for size := range 100 {
		message := bytes.Repeat([]byte{'m'}, size)
		encrypted, err := c.Encrypt(message)
		if err != nil {
			t.Fatalf("encrypt %d bytes: %v", size, err)
		}
		raw, _ := base64.StdEncoding.DecodeString(encrypted)
		if len(raw)%32 != 0 {
			t.Fatalf("ciphertext of %d bytes is %d bytes: not padded to 32", size, len(raw))
		}
		got, err := c.Decrypt(encrypted)
		if err != nil || !bytes.Equal(got, message) {
			t.Fatalf("decrypt %d bytes: %q, %v", size, got, err)
		}
	}
}

func TestNew(t *testing.T) {
	for name, tc := range map[string]struct {
		token, key, receiver string
		want                 error
	}{
		"as published":          {vectorToken, vectorKey, vectorReceiver, nil},
		"unused bits set":       {vectorToken, vectorKey[:42] + "D", vectorReceiver, nil},
		"no token":              {"", vectorKey, vectorReceiver, ErrSettings},
		"no receiver":           {vectorToken, vectorKey, "", ErrSettings},
		"key too short":         {vectorToken, vectorKey[:42], vectorReceiver, ErrKey},
		"key too long":          {vectorToken, vectorKey + "A", vectorReceiver, ErrKey},
		"key not base64":        {vectorToken, strings.Repeat("*", 43), vectorReceiver, ErrKey},
		"key with line feed":    {vectorToken, vectorKey[:42] + "\n", vectorReceiver, ErrKey},
		"key with padding sign": {vectorToken, vectorKey[:42] + "=", vectorReceiver, ErrKey},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(tc.token, tc.key, tc.receiver); !errors.Is(err, tc.want) {
				t.Errorf("New: %v, want %v", err, tc.want)
			}
		})
	}
}

func TestDecryptRefuses(t *testing.T) {
	c := vectorCodec(t)
	for name, tc := range map[string]struct {
		encrypted string
		want      error
	}{
		"nothing":                       {"", ErrCiphertext},
		"not base64":                    {"****", ErrCiphertext},
		"line feed within":              {vectorEcho[:40] + "\n" + vectorEcho[40:], ErrCiphertext},
		"loose trailing bits":           {strings.Replace(vectorEcho, "qQ==", "qR==", 1), ErrCiphertext},
		"half a block of 32":            {base64.StdEncoding.EncodeToString(make([]byte, 16)), ErrCiphertext},
		"too large":                     {strings.Repeat("A", MaxEncrypted+4), ErrTooLarge},
		"padding of 0":                  {cbc(t, plain(0, nil, 32, 0)), ErrPlaintext},
		"padding over 32":               {cbc(t, bytes.Repeat([]byte{33}, 64)), ErrPlaintext},
		"padding bytes differ":          {cbc(t, append(plain(0, nil, 30, 0), 1, 2)), ErrPlaintext},
		"nothing but padding":           {cbc(t, bytes.Repeat([]byte{32}, 32)), ErrPlaintext},
		"length beyond the end":         {cbc(t, plain(1000, []byte(vectorReceiver), 64, 26)), ErrPlaintext},
		"length that overflows an int":  {cbc(t, plain(0xffffffff, []byte(vectorReceiver), 64, 26)), ErrPlaintext},
		"another receiver":              {sealedFor(t, "wx0000000000000000"), ErrReceiveID},
		"receiver with one more byte":   {sealedFor(t, vectorReceiver+"x"), ErrReceiveID},
		"message of more than it may":   {cbc(t, plain(MaxMessage+1, make([]byte, MaxMessage+1+10), MaxMessage+32, 1)), ErrTooLarge},
		"ciphertext cut after 32 bytes": {base64.StdEncoding.EncodeToString(mustDecode(vectorEcho)[:32]), ErrPlaintext},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.Decrypt(tc.encrypted)
			if !errors.Is(err, tc.want) || got != nil {
				t.Errorf("Decrypt: %q, %v; want %v", got, err, tc.want)
			}
		})
	}
	if _, err := c.Encrypt(make([]byte, MaxMessage+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Encrypt of a message that is too large: %v", err)
	}
}

func TestDecryptedMessageDoesNotReachTheReceiver(t *testing.T) {
	c := vectorCodec(t)
	message, err := c.Decrypt(vectorEcho)
	if err != nil {
		t.Fatal(err)
	}
	if cap(message) != len(message) { // an append would write over what lies behind
		t.Errorf("message has capacity %d beyond its length %d", cap(message), len(message))
	}
}

func TestCodecPrintsNoSecret(t *testing.T) {
	c := vectorCodec(t)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		out := fmt.Sprintf(verb, c)
		if strings.Contains(out, vectorToken) || strings.Contains(out, hex.EncodeToString(c.key)[:8]) {
			t.Errorf("%s prints a secret: %s", verb, out)
		}
		if !strings.Contains(out, vectorReceiver) {
			t.Errorf("%s does not name the receiver: %s", verb, out)
		}
	}
}

// FuzzDecrypt: whatever comes in, decryption neither panics nor accepts what
// would not come out of an encryption by the same codec.
func FuzzDecrypt(f *testing.F) {
	f.Add(vectorEcho)
	f.Add("")
	f.Add(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 64)))
	f.Add(vectorEcho[:len(vectorEcho)-4])
	c, err := New(vectorToken, vectorKey, vectorReceiver)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, encrypted string) {
		message, err := c.Decrypt(encrypted)
		var fault Fault
		if err != nil {
			if !errors.As(err, &fault) {
				t.Fatalf("error %v is not a Fault", err)
			}
			return
		}
		again, err := c.Encrypt(message)
		if err != nil {
			t.Fatalf("encrypt again: %v", err)
		}
		if len(again) != len(encrypted) {
			t.Fatalf("an accepted ciphertext has %d characters, a true one %d", len(encrypted), len(again))
		}
	})
}

// FuzzDecryptPlaintext goes past the cipher, to the bytes that a holder of the
// key could have sent.
func FuzzDecryptPlaintext(f *testing.F) {
	f.Add(plain(4, []byte("text"+vectorReceiver), 42, 22))
	f.Add(plain(0xffffffff, []byte(vectorReceiver), 64, 26))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := New(vectorToken, vectorKey, vectorReceiver)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) == 0 || len(raw)%32 != 0 {
			return
		}
		message, err := c.Decrypt(cbc(t, raw))
		if err == nil && !bytes.Contains(raw, append(message, vectorReceiver...)) {
			t.Fatalf("message %q is not in the plaintext", message)
		}
	})
}

func vectorCodec(tb testing.TB) *Codec {
	tb.Helper()
	c, err := New(vectorToken, vectorKey, vectorReceiver)
	if err != nil {
		tb.Fatalf("New: %v", err)
	}
	return c
}

func sealedFor(tb testing.TB, receiver string) string {
	tb.Helper()
	c, err := New(vectorToken, vectorKey, receiver)
	if err != nil {
		tb.Fatal(err)
	}
	encrypted, err := c.Encrypt([]byte("text"))
	if err != nil {
		tb.Fatal(err)
	}
	return encrypted
}

// plain builds a plaintext with a claimed length, cut or filled with pad bytes
// to size bytes and then to a whole block.
func plain(claimed uint32, rest []byte, size int, pad byte) []byte {
	out := make([]byte, saltLength, size+blockSize)
	out = binary.BigEndian.AppendUint32(out, claimed)
	out = append(out, rest...)
	for len(out) < size || (pad != 0 && len(out)%blockSize != 0) {
		out = append(out, pad)
	}
	return out
}

// cbc encrypts raw blocks with the vector's key.
func cbc(tb testing.TB, raw []byte) string {
	tb.Helper()
	c := vectorCodec(tb)
	out := bytes.Clone(raw)
	cipher.NewCBCEncrypter(c.block, c.key[:aes.BlockSize]).CryptBlocks(out, out)
	return base64.StdEncoding.EncodeToString(out)
}

func mustDecode(s string) []byte {
	raw, _ := base64.StdEncoding.DecodeString(s)
	return raw
}
