package shadow

import (
	"cmp"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Reported is a list that Rollcall has not pushed.
type Reported struct {
	Members []string // as ListOf makes them
	// At is the instant of the push, by the clock of who pushed.
	At     time.Time
	Source Source
	Note   string // for a person; may be empty
	// Term is that of the code's mode when the list was reported. While Rollcall
	// wrote the code, the other system's list has lost its meaning.
	Term int64
}

// Source says how a list is known.
type Source string

// The sources.
const (
	Report Source = "report" // the other system said that it pushed it
	Spot   Source = "spot"   // WeCom was asked what it holds
)

// ListOf returns staff IDs as they are compared: sorted, each once.
func ListOf(staff []string) []string { return slices.Compact(slices.Sorted(slices.Values(staff))) }

// Outcome is how a comparison ended.
type Outcome string

// The outcomes; "" is a code that was not compared.
const (
	Match     Outcome = "match"
	Mismatch  Outcome = "mismatch"
	NoVerdict Outcome = "no_verdict" // ours is empty: nobody is left, and nothing would be sent
)

// Outcomes returns all that a comparison can end with, for the labels of metrics.
func Outcomes() []Outcome { return []Outcome{Match, Mismatch, NoVerdict} }

// Kind says in which way the other list is wrong, if ours is right.
type Kind string

// The kinds.
const (
	Lists Kind = "lists" // the other system lists somebody whom Rollcall does not
	Lacks Kind = "lacks" // the other system lacks somebody whom Rollcall lists
)

// Kinds returns both.
func Kinds() []Kind { return []Kind{Lists, Lacks} }

// Reasons returns what a kind can be due to: why Rollcall leaves somebody out, or
// why it lists him.
func Reasons(kind Kind) []reason.Reason {
	if kind == Lacks {
		return []reason.Reason{reason.Eligible, reason.BackupInUse, reason.FallbackInUse, reason.KeptLast, reason.Guarded}
	}
	return []reason.Reason{
		reason.Offline, reason.OffDuty, reason.AtAddLimit, reason.AtDailyLimit, reason.AtRoundLimit, reason.AtCompanyLimit,
		reason.Resigned, reason.TakenOff, reason.Quarantined, reason.RemovedToday, reason.StaffMissing, reason.OverMemberCap,
		reason.BackupNotNeeded, reason.NotAMember,
	}
}

// Cause is why two lists differ about somebody. There are as many as Kinds and
// Reasons allow, so it is safe as the labels of a metric.
type Cause struct {
	Kind   Kind          `json:"kind"`
	Reason reason.Reason `json:"reason"`
}

// String is the cause in one word, such as "lists/offline".
func (c Cause) String() string { return string(c.Kind) + "/" + c.Reason.String() }

// Difference is one person about whom two lists differ.
type Difference struct {
	Staff string `json:"staff"`
	Cause
}

// Result is what a comparison found.
type Result struct {
	Outcome     Outcome
	Differences []Difference // of a mismatch: by kind, then by staff ID
}

// Causes returns each cause of the differences once, in order.
func Causes(differences []Difference) []Cause {
	causes := make([]Cause, 0, len(differences))
	for _, d := range differences {
		causes = append(causes, d.Cause)
	}
	slices.SortFunc(causes, compareCauses)
	return slices.Compact(causes)
}

func compareCauses(a, b Cause) int {
	return cmp.Or(-cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Reason, b.Reason))
}

// Compare holds a list of another system against what Rollcall would have pushed.
func Compare(ours push.Shadow, theirs Reported) Result {
	if len(ours.Members) == 0 {
		return Result{Outcome: NoVerdict}
	}
	why := make(map[string]roster.Judgement, len(ours.Why))
	for _, judgement := range ours.Why {
		why[judgement.Staff] = judgement
	}
	var differences []Difference
	for _, staff := range without(theirs.Members, ours.Members) {
		differences = append(differences, Difference{staff, Cause{Lists, reasonOf(why, staff)}})
	}
	for _, staff := range without(ours.Members, theirs.Members) {
		differences = append(differences, Difference{staff, Cause{Lacks, reasonOf(why, staff)}})
	}
	if len(differences) == 0 {
		return Result{Outcome: Match}
	}
	return Result{Outcome: Mismatch, Differences: differences}
}

// reasonOf is why Rollcall lists somebody, or does not.
func reasonOf(why map[string]roster.Judgement, staff string) reason.Reason {
	judgement, known := why[staff]
	if !known {
		return reason.NotAMember
	}
	return judgement.Reason
}

// without returns who is on one list and not on another, sorted and each once.
func without(list, other []string) []string {
	var left []string
	for _, staff := range ListOf(list) {
		if !slices.Contains(other, staff) {
			left = append(left, staff)
		}
	}
	return left
}
