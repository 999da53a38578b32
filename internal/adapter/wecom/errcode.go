package wecom

import (
	"errors"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// The errcodes that this package itself acts on (pages 90313, the global
// codes, and 96348, contact ways). push.Classify knows the rest.
const (
	codeBusy          = -1    // system busy
	codeBadSecret     = 40001 // also: bad credential
	codeBadCorp       = 40013
	codeTokenInvalid  = 40014
	codeTokenMissing  = 41001
	codeSecretMissing = 41004
	codeTypeMissing   = 41037 // seen on del for a config that is gone
	codeConfigUnknown = 41044
	codeTokenExpired  = 42001
	codeAPINotAllowed = 48002
	codeAppDisabled   = 50003
	codeUntrustedIP   = 60020
)

// tokenRefused reports whether WeCom refused the access token and not those
// who sent it: another token may do.
func tokenRefused(errcode int) bool {
	return errcode == codeTokenInvalid || errcode == codeTokenExpired || errcode == codeTokenMissing
}

// accountRefused reports whether WeCom refused the credentials, the app or the
// address they are used from. Repeating such a call is what blocks the IP.
func accountRefused(errcode int) bool {
	switch errcode {
	case codeBadSecret, codeBadCorp, codeSecretMissing, codeAPINotAllowed, codeAppDisabled, codeUntrustedIP:
		return true
	}
	return false
}

// classOf names the outcome of an exchange for metrics and spans: "ok",
// "token_refused" (another token follows), "too_late" (not sent), or the
// class of the failure.
func classOf(callErr *push.CallError) string {
	switch {
	case callErr == nil:
		return "ok"
	case tokenRefused(callErr.ErrCode):
		return "token_refused"
	case errors.Is(callErr, ErrTooLate):
		return "too_late"
	}
	return push.Classify(callErr).String()
}
