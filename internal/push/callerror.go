package push

import (
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// CallError is a vendor call that did not succeed.
type CallError struct {
	Op string // the API, e.g. "update_contact_way"
	// Unknown is true when the call may have taken effect: it was sent and no
	// trustworthy answer came (time-out, reset, 5xx). False: surely not applied.
	Unknown    bool
	HTTPStatus int // 0: no answer
	ErrCode    int // WeCom's errcode; 0: none
	Message    string
	// Class is set by the caller of the vendor when it knows better than the
	// errcode does (no credentials for the tenant, an open breaker); "" leaves
	// the classification to ErrCode.
	Class reason.Reason
	Err   error // the cause; never holds a URL with a token
}

// Error names the call, the answer and the cause.
func (e *CallError) Error() string {
	s := e.Op
	if e.HTTPStatus != 0 {
		s += fmt.Sprintf(": http %d", e.HTTPStatus)
	}
	if e.ErrCode != 0 {
		s += fmt.Sprintf(": errcode %d", e.ErrCode)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Unknown {
		s += " (outcome unknown)"
	}
	return s
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }
