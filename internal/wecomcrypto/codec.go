package wecomcrypto

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
)

// Limits of what is accepted, in bytes. A callback is a small XML document;
// the limits leave room for a hundred times the largest documented one.
const (
	// MaxMessage is the longest plaintext message.
	MaxMessage = 128 << 10
	// MaxEncrypted is the longest base64 ciphertext.
	MaxEncrypted = 192 << 10
	// MaxBody is the longest envelope.
	MaxBody = 256 << 10
)

const (
	keyLength  = 43 // characters of an EncodingAESKey
	blockSize  = 32 // WeCom pads to 32, twice the block of AES
	saltLength = 16 // random bytes before the length
	headLength = saltLength + 4
)

// Codec seals and opens the callbacks of one receiver. It is safe for
// concurrent use and never prints its key or token.
type Codec struct {
	token     string
	receiveID string
	key       []byte
	block     cipher.Block
}

// New returns the codec for a callback setting: the token and EncodingAESKey
// as WeCom's console shows them, and the receive ID: the corp ID for a corp's
// own app, the suite ID for a provider's. It fails with ErrKey or ErrSettings.
func New(token, encodingAESKey, receiveID string) (*Codec, error) {
	if token == "" || receiveID == "" {
		return nil, ErrSettings
	}
	if len(encodingAESKey) != keyLength {
		return nil, ErrKey
	}
	// Not strict: the last character carries two bits that nothing uses, and
	// keys with those bits set are in use.
	key, err := base64.StdEncoding.DecodeString(encodingAESKey + "=")
	if err != nil || len(key) != 32 {
		return nil, ErrKey // the cause of base64 would quote the key's position only, but adds nothing
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, ErrKey
	}
	return &Codec{token: token, receiveID: receiveID, key: key, block: block}, nil
}

// ReceiveID returns the receiver that messages are sealed for.
func (c *Codec) ReceiveID() string { return c.receiveID }

// Format keeps key and token out of every fmt verb.
func (c *Codec) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "wecomcrypto.Codec(%s)", c.receiveID) // fmt offers no way to report it
}

// Encrypt returns the base64 ciphertext of a message of at most MaxMessage
// bytes.
func (c *Codec) Encrypt(message []byte) (string, error) {
	var salt [saltLength]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return "", fmt.Errorf("wecom callback: random prefix: %w", err)
	}
	return c.encryptSalted(salt, message)
}

func (c *Codec) encryptSalted(salt [saltLength]byte, message []byte) (string, error) {
	if len(message) > MaxMessage {
		return "", ErrTooLarge
	}
	size := headLength + len(message) + len(c.receiveID)
	pad := blockSize - size%blockSize
	plain := make([]byte, 0, size+pad)
	plain = append(plain, salt[:]...)
	plain = binary.BigEndian.AppendUint32(plain, uint32(len(message)))
	plain = append(plain, message...)
	plain = append(plain, c.receiveID...)
	for range pad {
		plain = append(plain, byte(pad))
	}
	cipher.NewCBCEncrypter(c.block, c.key[:aes.BlockSize]).CryptBlocks(plain, plain)
	return base64.StdEncoding.EncodeToString(plain), nil
}

// Decrypt returns the message of a base64 ciphertext. Verify the signature
// first: without it a stranger could learn from the difference of the errors.
// It fails with ErrTooLarge, ErrCiphertext, ErrPlaintext or ErrReceiveID.
func (c *Codec) Decrypt(encrypted string) ([]byte, error) {
	if len(encrypted) > MaxEncrypted {
		return nil, ErrTooLarge
	}
	if strings.ContainsAny(encrypted, "\r\n") { // base64 would skip them
		return nil, ErrCiphertext
	}
	plain, err := base64.StdEncoding.Strict().DecodeString(encrypted)
	if err != nil || len(plain) == 0 || len(plain)%blockSize != 0 {
		return nil, ErrCiphertext
	}
	cipher.NewCBCDecrypter(c.block, c.key[:aes.BlockSize]).CryptBlocks(plain, plain)
	plain, ok := unpad(plain)
	if !ok || len(plain) < headLength {
		return nil, ErrPlaintext
	}
	size := uint64(binary.BigEndian.Uint32(plain[saltLength:headLength]))
	rest := plain[headLength:]
	if size > uint64(len(rest)) {
		return nil, ErrPlaintext
	}
	if size > MaxMessage {
		return nil, ErrTooLarge
	}
	message, receiver := rest[:size:size], rest[size:]
	if subtle.ConstantTimeCompare(receiver, []byte(c.receiveID)) != 1 {
		return nil, ErrReceiveID
	}
	return message, nil
}

// unpad takes PKCS#7 padding off and reports whether it was well formed: 1 to
// 32 equal bytes.
func unpad(plain []byte) ([]byte, bool) {
	pad := int(plain[len(plain)-1])
	if pad < 1 || pad > blockSize {
		return nil, false
	}
	var differ byte
	for _, b := range plain[len(plain)-pad:] {
		differ |= b ^ byte(pad)
	}
	return plain[:len(plain)-pad], differ == 0
}
