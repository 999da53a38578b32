package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// The headers of a request.
const (
	// HeaderKey holds the delivery's ID: the same at every try.
	HeaderKey = "Idempotency-Key"
	// HeaderTimestamp holds when this try was signed, in seconds since 1970.
	HeaderTimestamp = "Rollcall-Timestamp"
	// HeaderSignature holds "v1=" and what Sign returns.
	HeaderSignature = "Rollcall-Signature"
)

// signatureVersion names the way of signing.
const signatureVersion = "v1="

// Sign returns the lower-case hexadecimal HMAC-SHA256, under the secret, of the
// timestamp as HeaderTimestamp shows it, a dot, and the body as it is sent.
func Sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(timestamp + ".")) // a hash takes everything
	_, _ = mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

func timestampOf(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
