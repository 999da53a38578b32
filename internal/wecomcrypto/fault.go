package wecomcrypto

// Fault is one way in which a callback, or a key, can be wrong. Compare with
// errors.Is; a returned error may wrap a Fault with what was attempted. No
// Fault holds a key, a token or a part of the message.
type Fault string

const (
	// ErrKey says that the EncodingAESKey is not 43 characters of base64.
	ErrKey Fault = "EncodingAESKey is not 43 base64 characters"
	// ErrSettings says that the token or the receive ID is empty.
	ErrSettings Fault = "token or receive ID is empty"
	// ErrSignature says that msg_signature does not belong to token, timestamp, nonce
	// and ciphertext.
	ErrSignature Fault = "signature does not match"
	// ErrTooLarge says that something is longer than MaxBody, MaxEncrypted or MaxMessage.
	ErrTooLarge Fault = "larger than allowed"
	// ErrEnvelope says that the body is not the documented XML envelope.
	ErrEnvelope Fault = "not the documented envelope"
	// ErrCiphertext says that it is not base64 of whole blocks of 32 bytes.
	ErrCiphertext Fault = "ciphertext is malformed"
	// ErrPlaintext says that the padding or the length inside the plaintext is wrong,
	// most likely because of a different EncodingAESKey.
	ErrPlaintext Fault = "plaintext is malformed"
	// ErrReceiveID says that the message is meant for another corp or suite.
	ErrReceiveID Fault = "message is for another receiver"
)

// Error returns the fault in words.
func (f Fault) Error() string { return "wecom callback: " + string(f) }
