package intake

import (
	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// The queue knows when a wait ends, not what to call it when it does. So the
// intake remembers the cause, for the nack at the deadline to carry the same
// reason as the hold before it.

// noteWaitLocked remembers what a code that has just begun to wait waits for,
// and reports whether that is a pause of the queue's own: an outcome that is
// no hold and no failure does not wait by itself.
func (in *Intake) noteWaitLocked(key keyqueue.Key, outcome push.Outcome) (paced bool) {
	switch out := outcome.(type) {
	case push.Hold:
		in.waits[key] = out.Cause
	case push.Fail:
		in.waits[key] = out.Class
	default:
		in.waits[key] = reason.Paced
		return true
	}
	return false
}

// returned is a message on its way back to the broker.
type returned struct {
	message
	waited reason.Reason // what its code waited for
	why    reason.Reason // why it goes back
}

// returnLocked forgets what the codes of these messages waited for. why "" is
// that cause itself: its time has come.
func (in *Intake) returnLocked(messages []message, why reason.Reason) []returned {
	out := make([]returned, len(messages))
	for i, m := range messages {
		key := m.key()
		out[i] = returned{message: m, waited: in.waits[key], why: why}
		if why == "" {
			out[i].why = out[i].waited
		}
		delete(in.waits, key)
	}
	return out
}
