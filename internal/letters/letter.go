package letters

import (
	"errors"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Letter is a message that nobody could act on, as it was stored.
type Letter struct {
	ID          string // of the letter itself: ledger:entry:partition
	OriginalID  string // of the message, in Topic
	Topic       string // where the message was published
	Key         string // of the message
	Cause       reason.Reason
	Detail      string
	Payload     []byte // at most the first 64 KiB of the message's
	Truncated   bool   // the message may have been longer
	PublishedAt time.Time
	BuriedAt    time.Time
	Properties  map[string]string // all of the letter's
}

// Event is a reason to recompute a code, as a letter holds it or an operator
// gives it.
type Event struct {
	push.Ref
	Why        string // the producer's word for what happened, 1 to 64 bytes
	OccurredAt time.Time
	Note       string
	Trace      map[string]string // the trace context it continues; nil: none
}

// What an operator is told.
var (
	ErrUnknown    = errors.New("there is no such dead letter")
	ErrSettled    = errors.New("it has been dealt with already")
	ErrUnreadable = errors.New("it cannot be published as it is")
	ErrNoReason   = errors.New("a letter that is discarded needs a reason: --reason TEXT")
)
