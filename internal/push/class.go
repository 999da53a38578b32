package push

import "github.com/rollcall-dev/rollcall/internal/reason"

// opUpdate is the API whose calls the budget paces.
const opUpdate = "update_contact_way"

// throttles reports the codes of WeCom's page 90312: too many calls of an API,
// too many at once, or two at once that are in each other's way.
func throttles(errcode int) bool { return errcode == 45009 || errcode == 45033 || errcode == 45035 }

// Classify says what kind of failure a call met: Throttled, Gone, BadMember,
// Credentials, BreakerOpen, Transient or UnknownError. The error codes are
// those of WeCom's pages 90313 (global codes) and 96348 (contact ways).
func Classify(err *CallError) reason.Reason {
	if err.Class != "" {
		return err.Class
	}
	if err.Op != opUpdate && throttles(err.ErrCode) {
		return reason.Transient // another API is throttled; the budget of this one knows nothing of it
	}
	if throttles(err.ErrCode) {
		return reason.Throttled
	}
	switch err.ErrCode {
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
