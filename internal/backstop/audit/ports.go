package audit

import (
	"context"
	"iter"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Codes reads many codes at a time, without their sets and slots. Reads come
// from the primary.
type Codes interface {
	// Page returns at most limit codes whose IDs come after one, in the order of
	// their IDs; "" begins.
	Page(ctx context.Context, after string, limit int) ([]Look, error)
	// Of returns the codes named, in that order. One that is not there, or is
	// another tenant's, has Wrong.
	Of(ctx context.Context, refs []push.Ref) ([]Look, error)
}

// Records lists the codes that have a record.
type Records interface {
	// Recorded returns at most limit of them after one, in the order of
	// "tenant/code"; the zero Ref begins.
	Recorded(ctx context.Context, after push.Ref, limit int) ([]push.Ref, error)
}

// Sets reads rotation sets.
type Sets interface {
	// Standing returns the sets of the codes named, in that order.
	Standing(ctx context.Context, refs []push.Ref) ([]Set, error)
	// All yields the codes that have a set, some of them perhaps twice. An error
	// is the last.
	All(ctx context.Context) iter.Seq2[push.Ref, error]
}

// Slots says whose calls wait for their slot.
type Slots interface {
	// Booked answers for the codes named, in that order.
	Booked(ctx context.Context, refs []push.Ref) ([]bool, error)
}

// Passes keeps the Pass that all walkers share.
type Passes interface {
	// Get returns the pass; the zero Pass before the first.
	Get(ctx context.Context) (Pass, error)
	// Swap stores a pass as version pass.Version+1 if the stored one still has
	// pass.Version. It reports false, and changes nothing, otherwise.
	Swap(ctx context.Context, pass Pass) (bool, error)
}

// Findings keeps what a person has to look at: what no refresh can mend.
type Findings interface {
	// Note stores findings, each once a Kind and code, with when it was first
	// and last seen.
	Note(ctx context.Context, findings ...Finding) error
}

// Sampler is given the codes that agree, and those in shadow mode, as the walk
// passes them. It keeps the ones that it wants to ask the vendor about.
type Sampler interface {
	Sample(ctx context.Context, pass int64, look Look) error
}

// Observer counts. Its methods neither wait nor fail.
type Observer interface {
	// Looked is told of each look that counts: the second one where there are
	// two.
	Looked(ctx context.Context, finding Finding)
	// Passed is told of a pass that has ended.
	Passed(ctx context.Context, pass Pass)
}
