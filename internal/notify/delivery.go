package notify

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// State is where a delivery stands.
type State string

// The states. What leads from one to the next is in progress.go.
const (
	Pending    State = "pending"     // waits for its turn
	InProgress State = "in_progress" // somebody works on it; it is not paid, or not known to be
	Sending    State = "sending"     // paid; the receiver may have it
	Success    State = "success"     // the receiver took it
	Failed     State = "failed"      // given up; an operator may reopen it
	Held       State = "held"        // the day's pool is exhausted
)

// States returns all states.
func States() []State { return []State{Pending, InProgress, Sending, Success, Failed, Held} }

// Lane is the deliveries of one tenant through one channel. Lanes do not wait
// for each other.
type Lane struct {
	Tenant string
	Via    Via
}

// Delivery is the row of one notice for one channel.
type Delivery struct {
	// ID follows from tenant, channel and the notice's key: 32 lower-case
	// hexadecimal digits. It is the idempotency key that the receiver sees.
	ID      string
	Via     Via
	Notice  Notice
	FiledAt time.Time
	Progress
}

// Progress is what changes of a row.
type Progress struct {
	State State
	// Attempt grows by one with each claim. State, Attempt and Owner together
	// never come again: they are what a change is conditional on.
	Attempt int
	// Owner is who works on the row; "" in every other state than InProgress
	// and Sending.
	Owner string
	// Due is when a pending row may be worked on, and when an owner's time is
	// up; zero in the other states.
	Due time.Time
	// Tries is how often sending was begun since the row was filed or reopened.
	Tries int
	// PoolDay is the day, in the tenant's time zone, whose pool pays or paid:
	// set before the pool is asked, so that a repeat asks the same one. "": not
	// decided.
	PoolDay roster.Day
	// Paid says that the pool of PoolDay is known to have paid.
	Paid bool
	// Cause and Detail say why the row waits or was given up; "" when neither.
	// Detail holds no secret.
	Cause  reason.Reason
	Detail string
	At     time.Time // of the last change
}

// Lane returns the delivery's lane.
func (d Delivery) Lane() Lane { return Lane{d.Notice.Tenant, d.Via} }

// newDelivery is the row of a notice as it is filed.
func newDelivery(n Notice, via Via, now time.Time) Delivery {
	return Delivery{
		ID: deliveryID(n.Tenant, via, n.Key), Via: via, Notice: n, FiledAt: now,
		Progress: Progress{State: Pending, Due: now, At: now},
	}
}

// deliveryID is half a SHA-256 of the parts, each with its length before it.
func deliveryID(tenant string, via Via, key string) string {
	h := sha256.New()
	for _, part := range []string{tenant, string(via), key} {
		_ = binary.Write(h, binary.BigEndian, uint32(len(part))) // a hash takes everything
		_, _ = h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
