package notify

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Outcome is what a channel said to a message: Accepted, Again or Refused.
type Outcome interface{ outcome() }

// Accepted: the receiver has the message.
type Accepted struct{}

// Again: the receiver may have it or not, and it is worth another try.
type Again struct {
	Cause reason.Reason // Transient, Throttled, UnknownError
	// Detail is for an operator, at most 300 bytes, without a secret.
	Detail string
	// After is how long the receiver asked to wait; 0: it did not.
	After time.Duration
}

// Refused: another try would end the same.
type Refused struct {
	Cause  reason.Reason // Refused
	Detail string        // as of Again
}

func (Accepted) outcome() {}
func (Again) outcome()    {}
func (Refused) outcome()  {}
