package preflight

import (
	"context"
	"time"
)

// Verdict is what a check comes to.
type Verdict string

// The verdicts. A check that was skipped says nothing: what it builds on failed,
// or it cannot be looked at from here.
const (
	OK   Verdict = "ok"
	Warn Verdict = "warn"
	Fail Verdict = "fail"
	Skip Verdict = "skip"
)

// Finding is what a look found.
type Finding struct {
	Verdict Verdict
	Found   string // what is there, in a sentence without a full stop
	Remedy  string // what to do about it; "" when there is nothing to do
}

func ok(found string) Finding           { return Finding{OK, found, ""} }
func warn(found, remedy string) Finding { return Finding{Warn, found, remedy} }
func fail(found, remedy string) Finding { return Finding{Fail, found, remedy} }
func skip(found string) Finding         { return Finding{Skip, found, ""} }
func (f Finding) good() bool            { return f.Verdict == OK || f.Verdict == Warn }
func (f Finding) mendable() bool        { return f.Verdict == Warn || f.Verdict == Fail }

// Check is one look at one thing.
type Check struct {
	Name string // "part.thing"
	// After are the checks without which this one says nothing: when one of them
	// failed or was skipped, this one is skipped.
	After []string
	// Behind are checks that this one waits for, whatever comes of them: they may
	// make what it looks at.
	Behind []string
	// Look finds out. Its context ends after Options.Timeout.
	Look func(context.Context) Finding
	// Mend makes what is missing and says what it did, "" when there was nothing
	// to make. It may be repeated. It is called after a look that warned or
	// failed, if that is asked for; nil is for what a person has to decide.
	Mend func(context.Context) (did string, err error)
}

// Result is what came of a check.
type Result struct {
	Name string
	Finding
	Did  string // what was mended
	Took time.Duration
}

// Tally counts results by verdict.
func Tally(results []Result) map[Verdict]int {
	counts := map[Verdict]int{}
	for _, r := range results {
		counts[r.Verdict]++
	}
	return counts
}
