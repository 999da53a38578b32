package push

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Shadow is what Rollcall would have pushed for a code that another system
// still writes.
type Shadow struct {
	Members  []string // sorted, as they would have been sent; empty: nobody is left
	Hash     string   // roster.Verdict.Hash
	Revision int64    // roster.Code.Revision it was decided from
	// At is an instant before the facts were read: facts written before it are
	// in the verdict.
	At time.Time
	// Why has each person once, listed or not.
	Why []roster.Judgement
}

// Shadows keeps the last Shadow of each code in shadow mode.
type Shadows interface {
	// Note stores a shadow unless a later one is stored, by At.
	Note(ctx context.Context, ref Ref, shadow Shadow) error
}
