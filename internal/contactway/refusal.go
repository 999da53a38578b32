package contactway

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// ErrPending says that a contact way is not there yet and will be made without
// being asked for again.
var ErrPending = errors.New("the contact way is being made")

// RefusedError says that a contact way cannot be had until a person changes
// something.
type RefusedError struct {
	// Why is BadMember, WayCap, Credentials, NobodyLeft, Gone, WayTaken,
	// WayUnfit or UnknownError.
	Why    reason.Reason
	Detail string // what to change, for a person; holds no secret
}

// Error names the reason and the detail.
func (e *RefusedError) Error() string { return fmt.Sprintf("%s: %s", e.Why, e.Detail) }

func refused(why reason.Reason, format string, args ...any) *RefusedError {
	return &RefusedError{Why: why, Detail: fmt.Sprintf(format, args...)}
}

const (
	codeWayCap   = 41045 // the company's cap of contact ways (page 96348)
	codeTooOften = 45009
	codeTooMany  = 45033
	codeConflict = 45035

	// throttleWait is for how long WeCom blocks an API that was called too
	// often in a minute (page 90454).
	throttleWait = time.Minute
)

// outcome is what a failed call means for the row.
type outcome struct {
	// unknown: the call may have been applied.
	unknown bool
	// refusal is set when only a person can help.
	refusal *RefusedError
	why     reason.Reason
	detail  string
}

// outcomeOf judges the end of a call that failed.
func outcomeOf(err error) outcome {
	call, ok := errors.AsType[*push.CallError](err)
	if !ok {
		// Nobody says that it was not sent.
		return outcome{unknown: true, why: reason.Transient, detail: err.Error()}
	}
	o := outcome{unknown: call.Unknown, why: classOf(call), detail: call.Error()}
	switch o.why {
	case reason.BadMember:
		o.refusal = refused(o.why, "WeCom does not take one of the members: %s", answerOf(call))
	case reason.WayCap:
		o.refusal = refused(o.why, "the company has as many contact ways as WeCom allows: %s", answerOf(call))
	case reason.Credentials:
		o.refusal = refused(o.why, "WeCom does not take the tenant's credentials: %s", answerOf(call))
	case reason.UnknownError:
		o.refusal = refused(o.why, "WeCom does not take it: %s", answerOf(call))
	}
	return o
}

// classOf is push.Classify with what matters here alone.
func classOf(call *push.CallError) reason.Reason {
	switch {
	case call.Class != "":
		return call.Class
	case call.ErrCode == codeWayCap:
		return reason.WayCap
	case call.ErrCode == codeTooOften, call.ErrCode == codeTooMany, call.ErrCode == codeConflict:
		return reason.Throttled
	}
	return push.Classify(call)
}

// answerOf is WeCom's answer in a few words.
func answerOf(call *push.CallError) string {
	if call.ErrCode == 0 {
		return call.Error()
	}
	return fmt.Sprintf("errcode %d, %s", call.ErrCode, cmp.Or(call.Message, "without a word"))
}
