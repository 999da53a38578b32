package adoption

import (
	"maps"
	"time"

	"github.com/rollcall-dev/rollcall/internal/contactway"
)

// RowSize is the most config IDs of one row.
const RowSize = 500

// State is how far an import is.
type State string

// The states of an import, in their order.
const (
	Listing  State = "listing"  // its config IDs are not all listed
	Adopting State = "adopting" // they are gone through
	Done     State = "done"
)

// Job is the newest import of a tenant.
type Job struct {
	Tenant string
	// Run names the import. Each code that it makes carries it.
	Run   string
	State State
	// HadCodes says that the tenant had codes before: who becomes known as a
	// staff member may sit on one of them.
	HadCodes bool
	// End is the last instant of which contact ways are listed, Window the part
	// of time that is being listed, and Cursor where in it.
	End    time.Time
	Window contactway.Window
	Cursor string
	// Rows is how many rows are written, and Listed how many config IDs they
	// hold.
	Rows   int
	Listed int
	// Row and At are the next config ID to go through: those of the rows before
	// Row, and the first At of Row, are done.
	Row int
	At  int
	Tally
	Started  time.Time
	Updated  time.Time
	Finished time.Time
	Claim    Claim
}

// Tally counts what became of the config IDs that were gone through.
type Tally struct {
	Done     int
	Imported int
	Held     int // a code had it before
	Skipped  map[Why]int
	Failed   map[Why]int
}

// Claim is one process's right to work on an import. Every write of its holder
// names the token, and nothing is written later than Until.
type Claim struct {
	Token int64 // grows with every claim of the tenant's imports
	Owner string
	Until time.Time // the zero time: nobody works on it
}

// Row is a part of an import's config IDs.
type Row struct {
	Seq  int // from 0
	IDs  []string
	Left []Left
}

// Left is a contact way that did not become a code.
type Left struct {
	At       int // its place in the row
	ConfigID string
	Why      Why
	Detail   string // for a person; may be empty
}

// Why says why a contact way did not become a code.
type Why string

// Rollcall has no use for these contact ways: they are skipped.
const (
	SingleMember Why = "single_member" // WeCom never changes it to one of several
	MiniProgram  Why = "mini_program"  // no QR code
	Temporary    Why = "temporary"     // ends by itself
	Departments  Why = "departments"   // lists departments, which a push would take off
	Nobody       Why = "nobody"        // lists nobody
	BeingMade    Why = "being_made"    // carries Rollcall's marker: a code is about to have it
	Gone         Why = "gone"          // was deleted after it was listed
)

// These are failures: a person has to look.
const (
	WeComError   Why = "wecom_error"   // WeCom refuses to tell of it
	InvalidFacts Why = "invalid_facts" // it cannot be told in facts
	IDTaken      Why = "id_taken"      // both IDs that its code could have are in use
)

// Failure tells failures from what is skipped.
func (w Why) Failure() bool { return w == WeComError || w == InvalidFacts || w == IDTaken }

// Copy returns a job that shares nothing with j.
func (j Job) Copy() Job {
	j.Skipped, j.Failed = maps.Clone(j.Skipped), maps.Clone(j.Failed)
	return j
}

// Running reports whether somebody works on the import.
func (j Job) Running(now time.Time) bool { return now.Before(j.Claim.Until) }

// Left returns how long the rest takes at a rate in contact ways a second; false
// when that is not known yet.
func (j Job) Left(rate float64) (time.Duration, bool) {
	if j.State != Adopting || rate <= 0 {
		return 0, j.State == Done
	}
	return time.Duration(float64(j.Listed-j.Done) / rate * float64(time.Second)), true
}

// leave counts a contact way that did not become a code.
func (t *Tally) leave(why Why) {
	counts := &t.Skipped
	if why.Failure() {
		counts = &t.Failed
	}
	if *counts == nil {
		*counts = map[Why]int{}
	}
	(*counts)[why]++
}
