package notify

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Ledger takes new rows.
type Ledger interface {
	// Create stores a row unless one with its tenant and ID is there, and
	// reports whether it did. After an error it may be stored.
	Create(ctx context.Context, row Delivery) (bool, error)
}

// Mover changes rows.
type Mover interface {
	// Move gives a row its next progress if its state, attempt and owner are
	// still those seen, in one conditional update. False: they are not, or the
	// row is gone. After an error it may have happened or not.
	Move(ctx context.Context, seen Delivery, next Progress) (bool, error)
}

// Queue is the rows that are due: pending ones, and those whose owner's time is
// up.
type Queue interface {
	Mover
	// DueLanes returns the lanes that have a row with Due at or before now.
	DueLanes(ctx context.Context, now time.Time) ([]Lane, error)
	// Due returns at most limit such rows (at least 1) of a lane, the earliest
	// first.
	Due(ctx context.Context, lane Lane, now time.Time, limit int) ([]Delivery, error)
}

// Shelf is the rows that are held.
type Shelf interface {
	Mover
	// HeldTenants returns the tenants that have a held row.
	HeldTenants(ctx context.Context) ([]string, error)
	// Held returns at most limit held rows (at least 1) of a tenant, the earliest
	// filed first.
	Held(ctx context.Context, tenant string, limit int) ([]Delivery, error)
}

// Pools are the days' budgets of deliveries.
type Pools interface {
	// Debit takes one delivery from the pool of a tenant's day, or finds that it
	// was taken before: true. False: limit deliveries were taken and this one is
	// none of them. It is one conditional update; after an error repeat it.
	Debit(ctx context.Context, tenant string, day roster.Day, id string, limit int) (bool, error)
	// Spent returns how many deliveries were taken from a pool.
	Spent(ctx context.Context, tenant string, day roster.Day) (int, error)
}

// Archive is all rows, as a person or a gauge sees them.
type Archive interface {
	// Get returns a row of a tenant by its ID, and whether there is one.
	Get(ctx context.Context, tenant, id string) (Delivery, bool, error)
	// List returns at most limit rows (at least 1), a tenant's together.
	List(ctx context.Context, which Selection, limit int) ([]Delivery, error)
	// Backlog looks at the rows that are not at their end.
	Backlog(ctx context.Context) (Backlog, error)
	// Prune removes the rows that came to their end before an instant, and the
	// pools of days that ended before it, and returns how many rows. A notice
	// whose rows are gone may be filed anew.
	Prune(ctx context.Context, before time.Time) (int, error)
}

// Selection is the rows after one, all of them or some.
type Selection struct {
	Tenant string // "": of all tenants
	State  State  // "": in all states
	// AfterTenant and AfterID name the last row seen; "" begins.
	AfterTenant, AfterID string
}

// Backlog is what is not at its end.
type Backlog struct {
	// Oldest is when the oldest row that is pending, in progress or being sent
	// was filed; zero when there is none.
	Oldest time.Time
	Held   int // rows
}

// Directory knows how a tenant wants to be told.
type Directory interface {
	// Channels returns a tenant's channels, the zero Channels when nothing is
	// configured.
	Channels(ctx context.Context, tenant string) (Channels, error)
	// Zone returns a tenant's time zone.
	Zone(ctx context.Context, tenant string) (*time.Location, error)
}

// Message is what a receiver is told. It is the same at every try.
type Message struct {
	ID     string // the idempotency key
	Notice Notice
}

// Sender is one kind of channel. It is safe for concurrent use.
type Sender interface {
	// Admit returns how long the receiver, by the channel's own pace, takes no
	// message; 0: the place of one is taken for this caller.
	Admit(to Channels) time.Duration
	// Send makes one attempt. It ends with ctx at the latest.
	Send(ctx context.Context, to Channels, message Message) Outcome
}

// Alerts tell an operator. Raise does not wait.
type Alerts interface {
	Raise(ctx context.Context, al alert.Alert)
}

// Fate is what became of a notice that was filed, for one channel or, without
// any, for all.
type Fate string

// The fates.
const (
	Filed     Fate = "filed"      // a delivery was created
	Repeated  Fate = "repeated"   // it was there already
	Unwanted  Fate = "unwanted"   // the tenant does not want notices of this kind
	NoChannel Fate = "no_channel" // the tenant has no channel
)

// Observer counts. It must not wait.
type Observer interface {
	// Filed counts what became of a notice, per channel.
	Filed(ctx context.Context, kind Kind, fate Fate)
	// Moved counts a delivery that came into a state.
	Moved(ctx context.Context, via Via, into State)
}
