package draw

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Turn is the member who takes the next customer.
type Turn struct {
	Staff string
	Round int64 // the rotation round that the set is for
	// Lap and Position are the cursor: how often the draw has gone round the
	// set, and the member's place in it, both from 0.
	Lap      int64
	Position int
	// Repeated says that this is an earlier answer, given again because the
	// request carried the same key; nothing was drawn.
	Repeated bool
}

// Sets are the rotation sets to draw from.
type Sets interface {
	// Draw takes the next member in order, one of his headroom and one of what
	// the company's daily total leaves him over all his codes. A key that was
	// answered lately gets the same answer, and nothing is drawn; "" never
	// repeats. The error is, or wraps, ErrNoSet or ErrExhausted; any other says
	// that the sets cannot be asked.
	Draw(ctx context.Context, ref push.Ref, key string) (Turn, error)
	Version(ctx context.Context, ref push.Ref) (int64, error)
	Replace(ctx context.Context, ref push.Ref, seen int64, set push.Set) (int64, bool, error)
}

// Past is a draw of some time ago.
type Past struct {
	Turn
	At time.Time
}

// Trail remembers the last draws of each code.
type Trail interface {
	// Trail returns the last draws of a code, the newest first.
	Trail(ctx context.Context, ref push.Ref) ([]Past, error)
}

// Codes says whose a code is.
type Codes interface {
	// TenantOf returns the tenant of a code; it never changes. A code that is
	// not there is push.ErrUnknownCode.
	TenantOf(ctx context.Context, code string) (string, error)
}

// Facts are what a set is made of.
type Facts interface {
	// Load and AdvanceRound are those of push.Store.
	Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error)
	AdvanceRound(ctx context.Context, ref push.Ref, from int64) (bool, error)
}

// Refresher stores reasons to recompute a code.
type Refresher interface {
	Refresh(ctx context.Context, ref push.Ref, why string) (publish.Place, error)
}

// Observer is told of what happens, for the metrics. Its methods are quick and
// safe for concurrent use.
type Observer interface {
	// Ended is called for each draw.
	Ended(ctx context.Context, surface Surface, ending Ending, took time.Duration)
	// Rebuilt is called for each attempt to make a missing set.
	Rebuilt(ctx context.Context, ok bool)
}
