package quota

import (
	"context"
	"errors"
	"time"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// ErrUnknownTenant says that there is no such tenant.
var ErrUnknownTenant = errors.New("unknown tenant")

// Facts are what an addition has to be judged by.
type Facts interface {
	// Tenant returns a tenant, or ErrUnknownTenant.
	Tenant(ctx context.Context, tenant string) (roster.Tenant, error)
	// CodeWith returns the tenant's code with a state, and false when there is
	// none.
	CodeWith(ctx context.Context, tenant, state string) (roster.Code, bool, error)
	// Code returns a code, the zero Code when the tenant has none of that ID.
	Code(ctx context.Context, ref push.Ref) (roster.Code, error)
}

// Contacts keep what is known of pairs.
type Contacts interface {
	// Contact returns a pair's contact, the zero Contact when it is new.
	Contact(ctx context.Context, pair Pair) (Contact, error)
	// Put replaces a contact whose version is still the one of the argument,
	// with the next version. It reports false, and changes nothing, otherwise.
	Put(ctx context.Context, pair Pair, contact Contact) (bool, error)
	// Open returns contacts with an addition that was taken up before an
	// instant and is not done.
	Open(ctx context.Context, before time.Time, limit int) ([]Known, error)
	// Done returns contacts with an addition that was done before an instant.
	Done(ctx context.Context, before time.Time, limit int) ([]Known, error)
}

// Known is a contact with its pair.
type Known struct {
	Pair
	Contact Contact
}

// Counters count. Each counts an addition once, however often it is asked to,
// until it is told to forget it.
type Counters interface {
	// Count counts an addition on the code and on the staff member, and
	// returns what they say then. A staff member who is not known is counted
	// on the code alone.
	Count(ctx context.Context, pair Pair, a Addition) (Counts, error)
	// Forget makes the counters forget additions that are done.
	Forget(ctx context.Context, done []Counting) error
}

// Counting is an addition with its pair.
type Counting struct {
	Pair
	Addition
}

// Staff changes what is known of staff members.
type Staff interface {
	// MarkRemoved marks a staff member as removed for the rest of a day, in
	// the name of an addition, unless he is. It returns the name on the day's
	// mark, the same to everybody; "" when there is none: he is not known, or
	// marked for a later day or by somebody without a name.
	MarkRemoved(ctx context.Context, tenant, staff string, day roster.Day, by string) (string, error)
	// Apply writes a change of a staff member, unless a later one was
	// written before, and says which. The same one may be repeated.
	Apply(ctx context.Context, change StaffChange) (Staffing, error)
}

// Ledgers are asked when a member is drawn whom his company's daily total bounds.
type Ledgers interface {
	// Tell tells what was counted of a member: on the code, and by the company
	// on a day.
	Tell(ctx context.Context, ref push.Ref, counted roster.Seat) error
}

// Publisher stores reasons to recompute; publish.Publisher is one.
type Publisher interface {
	Refresh(ctx context.Context, ref push.Ref, why string) (publish.Place, error)
}

// Filer files notices; notify has one.
type Filer interface {
	File(ctx context.Context, notice notify.Notice) error
}

// Observer counts what happens. It must not wait.
type Observer interface {
	// Judged tells of an event of a pair.
	Judged(ctx context.Context, judgement Judgement)
	// Reached tells of an addition at or over a ceiling.
	Reached(ctx context.Context, counting Counting, ceiling Ceiling)
	// Fell tells what an addition led to: a fan-out that was requested, with
	// its cause.
	Fell(ctx context.Context, cause reason.Reason)
}
