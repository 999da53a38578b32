package fanout

import "time"

// RowSize is the most codes of one row.
const RowSize = 500

// State is how far a fan-out is.
type State string

// The states of a fan-out, in their order.
const (
	Pending    State = "pending"     // requested; its codes are not all listed
	InProgress State = "in_progress" // listed; its codes are being released
	Done       State = "done"        // the broker has every code
)

// Job is the newest fan-out of a scope.
type Job struct {
	Ticket
	Scope
	Why       string
	Key       string
	State     State
	Requested time.Time
	Started   time.Time // when it was first claimed
	Finished  time.Time
	// Rows is how many rows are written, and Total how many codes they hold;
	// both grow until the state is InProgress.
	Rows  int
	Total int
	// Last is the last code listed; the rest is listed from there.
	Last string
	// Released is how many codes, in the order of the rows, the broker has
	// stored. It never becomes less within an epoch.
	Released int
	Claim    Claim
}

// Claim is one process's right to work on a job. Every write of its holder
// names the token, and nothing is published later than Until.
type Claim struct {
	Token int64 // grows with every claim of the job, over all epochs
	Owner string
	Until time.Time // the zero time: nobody works on it
}

// Row is a part of a job's codes. Codes are in order, over all rows of a job.
type Row struct {
	Seq   int // from 0
	Codes []string
	State State
}

// Rate is how many codes a second it has released since it began.
func (j Job) Rate(now time.Time) float64 {
	if j.Started.IsZero() {
		return 0
	}
	if !j.Finished.IsZero() {
		now = j.Finished
	}
	return float64(j.Released) / max(now.Sub(j.Started).Seconds(), 0.001)
}

// Left is how long the rest takes at a rate in codes a second; false when that
// is not known yet.
func (j Job) Left(rate float64) (time.Duration, bool) {
	if j.State != InProgress || rate <= 0 {
		return 0, j.State == Done
	}
	return time.Duration(float64(j.Total-j.Released) / rate * float64(time.Second)), true
}
