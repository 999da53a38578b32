package audit

import (
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Look is what was read of one code.
type Look struct {
	push.Ref
	Facts  roster.Facts
	Record push.Record // the zero Record but for its Code: there is none
	// Wrong says why the facts cannot be decided from: it is, or wraps, one of
	// push's errors about facts. Nothing else is known then.
	Wrong error
	// Dirty says that the code is in the dirty set.
	Dirty bool
	// Set is the code's rotation set, if the code rotates.
	Set Set
	// Noted is the hash of what would have been pushed last, of a code in shadow
	// mode; "" is nothing.
	Noted string
	// Booked says that a call of the code waits for its slot.
	Booked bool
}

// Set is a rotation set as it stands; the zero Set is none.
type Set struct {
	Version int64
	Round   int64
	Staff   []string // of its seats, in order
}
