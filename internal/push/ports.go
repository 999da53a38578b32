package push

import (
	"context"
	"errors"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Ref names a code. Reads go by both parts: a tenant never reaches a code of
// another tenant.
type Ref struct {
	Tenant string
	Code   string
}

// Errors of Store.Load and Store.Facts about the facts themselves, as opposed
// to a store that cannot be asked.
var (
	ErrUnknownTenant = errors.New("unknown tenant")
	ErrUnknownCode   = errors.New("unknown code")
	ErrWrongTenant   = errors.New("the code belongs to another tenant")
	ErrInvalidFacts  = errors.New("the facts are not what docs/facts.md describes")
)

// Store reads facts and keeps the records. Reads come from the primary, writes
// are durable (majority) when they return nil. After an error the outcome of a
// write is unknown.
type Store interface {
	// Load reads facts and record. A code that was never pushed has the zero
	// Record with Code set.
	Load(ctx context.Context, ref Ref) (roster.Facts, Record, error)
	// Facts reads the facts alone.
	Facts(ctx context.Context, ref Ref) (roster.Facts, error)
	// Begin raises the record's epoch from seen to seen+1 and adds the intent
	// with that epoch. It reports false, and changes nothing, when the epoch
	// is not seen any more.
	Begin(ctx context.Context, ref Ref, seen int64, intent Intent) (bool, error)
	// Drop removes the intent of an epoch.
	Drop(ctx context.Context, ref Ref, epoch int64) error
	// Commit sets the committed list, clears the failure, removes the intents
	// named by settled and expects the next change, if the record's epoch is
	// still committed.Epoch. It reports false, and changes nothing, otherwise.
	Commit(ctx context.Context, ref Ref, committed Committed, settled []int64, next time.Time) (bool, error)
	// ExpectChange brings the record's NextChange forward to at, and never
	// puts it off: an expectation from older facts may be early, which costs
	// an event, and must not hide one from newer facts. A zero at, here and in
	// Commit, expects nothing.
	ExpectChange(ctx context.Context, ref Ref, at time.Time) error
	// SetFailure replaces the record's failure.
	SetFailure(ctx context.Context, ref Ref, failure Failure) error
	// SetSearch replaces the record's search; the zero Search ends it.
	SetSearch(ctx context.Context, ref Ref, search Search) error
	// Quarantine leaves a staff member of a tenant out of every list until an
	// instant, and notes why. A quarantine never becomes shorter by it.
	Quarantine(ctx context.Context, tenant, staff string, until time.Time, why string) error
	// Suspend replaces a tenant's suspension if its NextProbe is still the one
	// seen (zero: none). It reports false, and changes nothing, otherwise.
	Suspend(ctx context.Context, tenant string, seen time.Time, suspension roster.Suspension) (bool, error)
	// Resume ends a tenant's suspension if its NextProbe is still the one seen.
	Resume(ctx context.Context, tenant string, seen time.Time) error
	// AdvanceRound moves the code's rotation round from the one named to the
	// next and empties its counters. It reports false when another round is
	// current.
	AdvanceRound(ctx context.Context, ref Ref, from int64) (bool, error)
	// MarkDeleted notes that the contact way is gone at WeCom.
	MarkDeleted(ctx context.Context, ref Ref, at time.Time) error
}

// Rotation keeps the rotation sets. A set's version grows with every write,
// even one of the same members.
type Rotation interface {
	// Version returns the set's version; 0 when there is no set.
	Version(ctx context.Context, ref Ref) (int64, error)
	// Replace writes the set if its version is still seen, keeping the cursor,
	// and returns the new version; false when the version is another.
	Replace(ctx context.Context, ref Ref, seen int64, set Set) (int64, bool, error)
	// Delete removes the set.
	Delete(ctx context.Context, ref Ref) error
}

// Set is a rotation set: its seats in order and the round they are for.
type Set struct {
	Round int64
	Seats []roster.Seat
}

// Ask is a request for one call of the vendor's update API.
type Ask struct {
	Ref
	// Removes is true when the list takes somebody off: it stops harm and may
	// use the reserve for removals.
	Removes bool
}

// Admission answers an Ask. When Granted, the call may go until Expires
// (seconds from now) without asking again. Otherwise: At is when it may go.
// Booked says that a slot at At is kept for this code; without it (a wait
// beyond the horizon) the code has to overflow.
type Admission struct {
	Granted bool
	Expires time.Time
	At      time.Time
	Booked  bool
	Cause   reason.Reason // Throttled, Blocked or BreakerOpen when not granted
}

// Budget paces calls within the vendor's limits over all instances. An error
// means that nobody could be asked; it never means "go".
type Budget interface {
	Admit(ctx context.Context, ask Ask) (Admission, error)
	// GiveBack returns a slot that was booked and is not needed. Nothing is
	// booked in most calls; it must be cheap then.
	GiveBack(ctx context.Context, ref Ref) error
	// Throttled reports a 45009 or 45033 answer and returns when the tenant
	// may call again.
	Throttled(ctx context.Context, tenant string, errcode int) (time.Time, error)
}

// Call is one update of a contact way: the whole list and all that an update
// overwrites.
type Call struct {
	Ref
	ConfigID   string
	Members    []string
	Remark     string
	State      string
	SkipVerify bool
	// Deadline is the last instant at which the call may be sent.
	Deadline time.Time
}

// Vendor is WeCom's contact-way API as this package needs it.
type Vendor interface {
	// Update replaces the list. A nil error says that WeCom has it; any other
	// error is, or wraps, a *CallError.
	Update(ctx context.Context, call Call) error
	// Exists asks WeCom for the contact way and reports whether it is known.
	Exists(ctx context.Context, ref Ref, configID string) (bool, error)
}

// Mark makes a code dirty: the keeper brings it back when it is due.
type Mark struct {
	Ref
	Reason reason.Reason
	Detail string // the cause for a person; holds no secret
	Due    time.Time
}

// Dirty is the durable set of codes that could not be finished now.
type Dirty interface {
	// Mark stores the marks, many in few round trips. After an error some may
	// be stored; a mark may be repeated.
	Mark(ctx context.Context, marks ...Mark) error
}
