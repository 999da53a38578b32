package push

import "github.com/rollcall-dev/rollcall/internal/reason"

// Classify says what kind of failure a call met: Throttled, Gone, BadMember,
// Credentials, BreakerOpen, Transient or UnknownError. The error codes are
// those of WeCom's pages 90313 (global codes) and 96348 (contact ways).
func Classify(err *CallError) reason.Reason {
	if err.Class != "" {
		return err.Class
	}
	switch err.ErrCode {
	case 45009, 45033, 45035:
		return reason.Throttled
	case 41044, 41037, 41038:
		return reason.Gone
	case 40003, 40031, 60111, 84074, 60011, 41054, 40098:
		return reason.BadMember
	case 40001, 40013, 41004, 60020, 48002, 50003:
		return reason.Credentials
	case 0, -1:
		return reason.Transient
	}
	return reason.UnknownError
}
