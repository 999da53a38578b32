package fanout

import (
	"context"
	"errors"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Store keeps jobs and rows. Every write is conditional on the job's epoch and
// claim as the caller last saw them, and reports false, having changed
// nothing, when either is another by now.
type Store interface {
	Requester
	// Open returns jobs that are not done and that nobody works on at an
	// instant, those requested first before others, without those of the
	// tenants named.
	Open(ctx context.Context, now time.Time, without []string, limit int) ([]Job, error)
	// Job returns a job, and false when there is none of that ID.
	Job(ctx context.Context, id string) (Job, bool, error)
	// Claim gives the job to the claim's owner, if its epoch is still the one
	// seen and its token is still the one before the claim's.
	Claim(ctx context.Context, seen Job, claim Claim, now time.Time) (bool, error)
	// Clear removes the job's rows of the epochs before one. It may be
	// repeated.
	Clear(ctx context.Context, job Job, before int64) error
	// AddRow writes a row. One that an earlier claim has left there, and that
	// its progress did not count, is replaced.
	AddRow(ctx context.Context, job Job, row Row) (bool, error)
	// Save writes the job's progress: State, Rows, Total, Last, Released,
	// Finished and the claim's Until.
	Save(ctx context.Context, job Job) (bool, error)
	// TakeRow turns a row from Pending to InProgress, or leaves one that an
	// earlier claim has taken InProgress, and returns it.
	TakeRow(ctx context.Context, job Job, seq int) (Row, bool, error)
	// EndRow turns a row from InProgress to Done.
	EndRow(ctx context.Context, job Job, seq int) error
	// Release ends a claim whose token is still the one named, whatever the
	// epoch is.
	Release(ctx context.Context, job Job) error
}

// Codes lists what a fan-out is about.
type Codes interface {
	// Of returns the IDs of a scope's codes that come after one, in order, at
	// most limit.
	Of(ctx context.Context, scope Scope, after string, limit int) ([]string, error)
}

// ErrUnpublishable is a code of which no event can be made, now or ever.
var ErrUnpublishable = errors.New("no event can be made of the code")

// Topic publishes.
type Topic interface {
	// PublishAll hands the codes over together and waits for the broker's
	// answers, no longer than ctx: the i-th error is that of the i-th code. One
	// that wraps ErrUnpublishable is final.
	PublishAll(ctx context.Context, codes []push.Ref, why string, at time.Time) []error
}

// Observer counts. It must not wait.
type Observer interface {
	// Released tells of codes that the broker has stored.
	Released(ctx context.Context, job Job, codes int)
	// Ended tells how a run of a job ended.
	Ended(ctx context.Context, job Job, end End)
}

// End is how a run of a job ended.
type End string

// The ends.
const (
	Finished   End = "finished"   // every code is released
	Superseded End = "superseded" // a newer request took the job over, or another process did
	Failed     End = "failed"     // something was not there; somebody else goes on later
	Stopped    End = "stopped"    // the process stops
)
