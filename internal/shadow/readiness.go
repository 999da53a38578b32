package shadow

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Bounds of a Readiness.
const (
	// DaysShown is for how many days, today included, comparisons are told.
	DaysShown = 14
	// DaysNeeded is how many whole days in a row must have been clean.
	DaysNeeded = 7
	// MaxExamples is how many codes are named of each sort.
	MaxExamples = 20
)

// Readiness is what the comparisons say about moving a tenant over, as the API
// and the command line show it.
type Readiness struct {
	Tenant   string    `json:"tenant"`
	At       time.Time `json:"at"`
	TimeZone string    `json:"time_zone"` // of the days
	Ready    bool      `json:"ready"`
	Verdict  string    `json:"verdict"` // one sentence, for a person
	Because  []string  `json:"because"` // what stands in the way, a sentence each
	Codes    Codes     `json:"codes"`
	// Causes are those of the mismatches that stand, the commonest first.
	Causes   []CauseCount `json:"causes"`
	Examples []Example    `json:"examples"` // of mismatches, those that stand longest first
	// NeverReported names codes in shadow mode of which no other list is known.
	NeverReported []string `json:"never_reported"`
	Today         Day      `json:"today"`
	Days          []Day    `json:"days"` // before today, the newest first
	// DaysClean is how many whole days without a mismatch there are in a row,
	// counted back from yesterday. It begins with the day after the one by which
	// nine tenths of the codes compared were compared first.
	DaysClean  int `json:"days_clean"`
	DaysNeeded int `json:"days_needed"`
}

// Codes counts the codes of a tenant that are not retired. Those after InShadow
// are among them.
type Codes struct {
	Total       int `json:"total"`
	InShadow    int `json:"in_shadow"`
	Live        int `json:"live"`
	WithVerdict int `json:"with_verdict"` // Rollcall has decided
	Reported    int `json:"reported"`     // another list is known
	Compared    int `json:"compared"`
	Matching    int `json:"matching"`    // by the last comparison
	Mismatching int `json:"mismatching"` // by the last comparison
	NobodyLeft  int `json:"nobody_left"` // nobody is left in Rollcall's eyes: nothing to compare
	Waiting     int `json:"waiting"`     // both lists are known and were never compared
	Settling    int `json:"settling"`    // changed since the last comparison, or waiting
}

// CauseCount is a cause and on how many codes it stands.
type CauseCount struct {
	Cause
	Codes int `json:"codes"`
}

// Example is a code whose lists differ.
type Example struct {
	Code        string       `json:"code"`
	Ours        []string     `json:"ours"`
	Theirs      []string     `json:"theirs"`
	Source      Source       `json:"source"`
	Since       time.Time    `json:"since"`
	Differences []Difference `json:"differences"`
}

// Day is the comparisons of one day.
type Day struct {
	Day        roster.Day   `json:"day"`
	Clean      bool         `json:"clean"`
	Compared   int          `json:"compared"`
	Matched    int          `json:"matched"`
	Mismatched int          `json:"mismatched"`
	Standing   int          `json:"standing"` // codes whose lists differed by a comparison of an earlier day
	Causes     []CauseCount `json:"causes"`   // of the mismatches, each once a comparison
}
