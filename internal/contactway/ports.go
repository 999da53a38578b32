package contactway

import (
	"context"
	"iter"
	"time"

	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Kind says how many members a contact way may have. WeCom never changes it.
type Kind int

// The kinds.
const (
	Single Kind = 1 // exactly one
	Multi  Kind = 2 // up to roster.MaxListed
)

// Order asks WeCom for a contact way that is shown as a QR code.
type Order struct {
	Kind       Kind
	Users      []string
	Remark     string
	State      string
	SkipVerify bool
	// SendBy is the last instant at which the call may be sent.
	SendBy time.Time
}

// Way is a contact way as WeCom holds it.
type Way struct {
	ConfigID   string
	QRCode     string // the address of its image; "" for one that is none
	Kind       Kind
	Remark     string
	State      string
	SkipVerify bool
	Users      []string // staff IDs, sorted
	// Departments are listed beside Users, with whoever is in them.
	Departments []int64
	// Button says that it is a button of a mini-program, not a QR code.
	Button bool
	// Temporary says that it ends by itself and serves one customer.
	Temporary bool
}

// Vendor is WeCom's contact-way API as this package needs it. Every error is,
// or wraps, a *push.CallError.
type Vendor interface {
	// Add makes a contact way and returns its ConfigID and QRCode.
	Add(ctx context.Context, tenant string, order Order) (Way, error)
	// Get returns a contact way; false when WeCom has none of that ID.
	Get(ctx context.Context, tenant, configID string) (Way, bool, error)
	// Delete removes a contact way. One that is not there is removed.
	Delete(ctx context.Context, tenant, configID string) error
	// List yields the config IDs of the contact ways made within a window. An
	// error is yielded once, with an empty ID, and is the last.
	List(ctx context.Context, tenant string, made Window) iter.Seq2[string, error]
}

// Rows keeps the rows. Writes are durable when they return nil; after an error
// their outcome is unknown.
type Rows interface {
	// Get returns a row; false when there is none.
	Get(ctx context.Context, key Key) (Row, bool, error)
	// Insert stores a row as version 1. It reports false, and changes nothing,
	// when there is a row of that key.
	Insert(ctx context.Context, row Row) (bool, error)
	// Replace stores a row as version row.Version+1 if the stored one still
	// has row's Version and Marker. It reports false, and changes nothing,
	// otherwise.
	Replace(ctx context.Context, row Row) (bool, error)
	// Remove deletes a row under the condition of Replace.
	Remove(ctx context.Context, row Row) (bool, error)
	// DueTenants returns the tenants with rows that are due.
	DueTenants(ctx context.Context, now time.Time) ([]string, error)
	// Due returns a tenant's rows that are not settled and whose NotBefore has
	// come, the longest due first, at most limit.
	Due(ctx context.Context, tenant string, now time.Time, limit int) ([]Row, error)
}

// Held is the contact way that a code has; the zero Held is none.
type Held struct {
	ConfigID string
	QRCode   string // "" when it was never known
}

// Codes is what this package reads and writes of codes.
type Codes interface {
	// Facts reads the facts of a code. Its errors are those of push.Store.
	Facts(ctx context.Context, ref push.Ref) (roster.Facts, error)
	// Held returns the contact way that a code has; push.ErrUnknownCode for a
	// code that the tenant does not have.
	Held(ctx context.Context, ref push.Ref) (Held, error)
	// Give stores a contact way into a code that has none and is not deleted,
	// and its state into one without a state. It reports whether the code has
	// this contact way now.
	Give(ctx context.Context, ref push.Ref, way Way) (bool, error)
	// HolderOf returns the code of a tenant that has a contact way; "" when
	// none has.
	HolderOf(ctx context.Context, tenant, configID string) (code string, err error)
}

// Announcer stores the reason to recompute a code (publish.Publisher).
type Announcer interface {
	Refresh(ctx context.Context, ref push.Ref, why string) (publish.Place, error)
}

// Event is something that happened to a contact way, for a metric.
type Event string

// The events.
const (
	EventMade    Event = "made"    // by the call that was meant to make it
	EventFound   Event = "found"   // made by a call whose answer was lost
	EventAdopted Event = "adopted" // it was at WeCom already
	EventRefused Event = "refused" // WeCom does not take it
	EventSpare   Event = "spare"   // one too many was deleted
)

// Observer counts events. Kind tells codes' ways from members'.
type Observer interface {
	WayEvent(ctx context.Context, kind Kind, event Event)
}
