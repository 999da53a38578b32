package shadow

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Reception is what became of a report.
type Reception string

// The receptions.
const (
	Recorded    Reception = "recorded"      // it is what the other system pushed last
	Repeated    Reception = "repeated"      // the same list as before, and in the same term: nothing to compare
	Outdated    Reception = "outdated"      // a later push is known already
	NotInShadow Reception = "not_in_shadow" // Rollcall writes this code's list itself, or is to do nothing
)

// Receptions returns all that can become of a report.
func Receptions() []Reception { return []Reception{Recorded, Repeated, Outdated, NotInShadow} }

// Reports takes lists that Rollcall has not pushed.
type Reports interface {
	// Reported stores a list unless a later one of the code is stored, by At:
	// Recorded, Repeated or Outdated. Of two of one instant the one that comes
	// last counts. After an error it may be stored; a repeat is harmless.
	Reported(ctx context.Context, ref push.Ref, theirs Reported) (Reception, error)
}

// Store keeps a State of each code. A list that differs from the one before, on
// either side, or that is of another term, raises Changes and moves Changed.
type Store interface {
	push.Shadows
	Reports
	// Due returns at most limit (at least 1) states that changed at or before
	// an instant and were not compared since, those that changed first before
	// others.
	Due(ctx context.Context, changed time.Time, limit int) ([]State, error)
	// Settle ends the look at a state whose Changes are still those seen and
	// that is due: its Verdict is the comparison's, it is not due any more, and
	// a comparison with a day is counted, all in one conditional write. False:
	// it changed since, or somebody else has compared it.
	Settle(ctx context.Context, seen State, c Comparison) (bool, error)
	// States returns those of a tenant's codes that have one, without
	// Ours.Why.
	States(ctx context.Context, tenant string, codes []string) (map[string]State, error)
}

// Mode is what the facts say about how a code is written.
type Mode struct {
	Shadow bool           // Rollcall decides and another system pushes
	Term   int64          // grows with every switch of the code's or its tenant's mode
	Zone   *time.Location // of the tenant's days
}

// Listed is a code of a tenant.
type Listed struct {
	Code   string
	Shadow bool
	Term   int64 // as in Mode
}

// Directory is the facts that a comparison needs.
type Directory interface {
	// Mode returns a code's; push.ErrUnknownTenant, push.ErrUnknownCode. A
	// retired code is not in shadow mode.
	Mode(ctx context.Context, ref push.Ref) (Mode, error)
	// Zone returns the time zone of a tenant's days; push.ErrUnknownTenant.
	Zone(ctx context.Context, tenant string) (*time.Location, error)
	// Codes returns the codes of a tenant that are not retired, in the order of
	// their IDs from the one after an ID, at most limit (at least 1).
	Codes(ctx context.Context, tenant, after string, limit int) ([]Listed, error)
}

// Observer counts. It must not wait.
type Observer interface {
	// Compared tells of a comparison that counts, and of the causes of a
	// mismatch, each once.
	Compared(ctx context.Context, outcome Outcome, causes []Cause)
}
