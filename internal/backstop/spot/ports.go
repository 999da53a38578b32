package spot

import (
	"context"
	"iter"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Spare says whether a call may be made that nobody waits for.
type Spare interface {
	// Spare reports whether the budget is idle enough for one call of a tenant,
	// which is then charged and has to be made at once. It does not wait.
	Spare(ctx context.Context, tenant string) (bool, error)
}

// Looker reads what WeCom holds.
type Looker interface {
	// Way returns a contact way; false when WeCom has none of that ID.
	Way(ctx context.Context, tenant, configID string) (Way, bool, error)
}

// Records reads a code's record, from the primary.
type Records interface {
	// Record returns the record; that of a code that was never pushed is zero
	// with Code set.
	Record(ctx context.Context, ref push.Ref) (push.Record, error)
}

// Doubts lets a record distrust its list.
type Doubts interface {
	// Doubt has the next refresh of a code push, whatever it decides, if the
	// record's epoch is still the one named. It reports false, and changes
	// nothing, otherwise: a push began since.
	Doubt(ctx context.Context, ref push.Ref, epoch int64) (bool, error)
}

// Differences keeps the differences, one a code. After an error the outcome of a
// write is unknown.
type Differences interface {
	// Get returns what is stored of a code; false when nothing is.
	Get(ctx context.Context, ref push.Ref) (Difference, bool, error)
	// Put stores a difference as version d.Version+1, if what is stored still
	// has d.Version; 0 is nothing stored. It reports false, and changes nothing,
	// otherwise.
	Put(ctx context.Context, d Difference) (bool, error)
}

// Days counts checks, for each tenant and day.
type Days interface {
	// Add adds to a tenant's day. After an error it may have been added.
	Add(ctx context.Context, tenant string, day roster.Day, tally Tally) error
}

// Selection chooses differences for a person. The zero Selection is all.
type Selection struct {
	Tenant string // "" is all
	State  State  // "" is any
	After  push.Ref
}

// TenantDay is what was counted of a tenant in one day.
type TenantDay struct {
	Tenant string
	Day    roster.Day
	Tally
}

// Archive is what an operator reads.
type Archive interface {
	// List returns at most limit differences (at least 1) after
	// Selection.After, in the order of tenants and codes.
	List(ctx context.Context, which Selection, limit int) ([]Difference, error)
	// Since yields the days from one on, of a tenant or for "" of all, in no
	// order. An error is the last that it yields.
	Since(ctx context.Context, tenant string, from roster.Day) iter.Seq2[TenantDay, error]
}
