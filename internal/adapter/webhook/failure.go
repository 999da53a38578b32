package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// failed is what a request without an answer means. Its words are ours: those
// of net/http hold the whole URL.
func failed(err error) notify.Outcome {
	if errors.Is(err, errForbidden) {
		return notify.Refused{Cause: reason.Refused, Detail: errForbidden.Error()}
	}
	return notify.Again{Cause: reason.Transient, Detail: words(err)}
}

func words(err error) string {
	var (
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
		timeout     net.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "cut off when the process stopped"
	case errors.As(err, &name) && name.IsNotFound:
		return "the host's name is not known"
	case errors.As(err, &name):
		return "the host's name cannot be resolved"
	case errors.As(err, &certificate), errors.As(err, &authority):
		return "the certificate is not valid for the host"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection is refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "the connection was reset"
	}
	return "the connection failed"
}

// wait reads a Retry-After header: seconds, or an instant. What cannot be read
// is no wait.
func wait(header string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		most := int(maxWait / time.Second) // before it is multiplied, which could overflow
		return time.Duration(max(min(seconds, most), 0)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(min(at.Sub(now), maxWait), 0)
	}
	return 0
}

// maxWait is the longest wait that is passed on; whoever tries again bounds it
// further.
const maxWait = 24 * time.Hour
