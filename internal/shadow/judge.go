package shadow

import (
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// judge says whether the tenant can move over, and what stands in the way.
func (r *Readiness) judge() {
	r.Because = []string{}
	if r.Codes.InShadow == 0 {
		r.Verdict = "Nothing to move over: no code of the tenant is in shadow mode."
		r.Because = append(r.Because, "Set the mode of the tenant, or of some of its codes, to shadow.")
		return
	}
	for _, obstacle := range r.obstacles() {
		if obstacle.n > 0 {
			r.Because = append(r.Because, obstacle.says)
		}
	}
	switch r.Ready = len(r.Because) == 0; {
	case r.Ready:
		r.Verdict = fmt.Sprintf("Ready: %s in shadow mode, no two lists differ, and none has for %s.",
			several(r.Codes.InShadow, "code"), several(r.DaysClean, "whole day"))
	case len(r.Because) == 1:
		r.Verdict = "Not ready, for one reason."
	default:
		r.Verdict = fmt.Sprintf("Not ready, for %d reasons.", len(r.Because))
	}
}

// obstacle stands in the way while n is more than 0.
type obstacle struct {
	n    int
	says string
}

func (r *Readiness) obstacles() []obstacle {
	c := r.Codes
	undecided, silent := c.InShadow-c.WithVerdict, c.InShadow-c.Reported
	missing := max(r.DaysNeeded-r.DaysClean, 0)
	return []obstacle{
		{c.Mismatching, fmt.Sprintf("The lists of %s differ now.", several(c.Mismatching, "code"))},
		{undecided, fmt.Sprintf("Rollcall has not decided about %s yet: publish an event for each.", several(undecided, "code"))},
		{silent, fmt.Sprintf("No list of the other system is known of %s: report each once.", several(silent, "code"))},
		{c.Waiting, fmt.Sprintf("%s not compared yet: neither list may change for the settle time.", areOf(c.Waiting))},
		{missing, fmt.Sprintf("%s without a difference are needed, and there are %d.", several(r.DaysNeeded, "whole day"), r.DaysClean)},
	}
}

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func areOf(codes int) string {
	if codes == 1 {
		return "1 code is"
	}
	return fmt.Sprintf("%d codes are", codes)
}

// Text says what a cause means, for a person: the other system's list, seen from
// Rollcall's.
func (c Cause) Text() string {
	says, known := causeTexts[c]
	if !known {
		return c.String()
	}
	return says
}

var causeTexts = map[Cause]string{
	{Lists, reason.Offline}:         "lists somebody who is off line",
	{Lists, reason.OffDuty}:         "lists somebody who is off duty by his schedule",
	{Lists, reason.AtAddLimit}:      "lists somebody who has all the additions that the code allows him",
	{Lists, reason.AtDailyLimit}:    "lists somebody who has the day's additions of the code",
	{Lists, reason.AtRoundLimit}:    "lists somebody who has had his share of the round",
	{Lists, reason.AtCompanyLimit}:  "lists somebody who has the day's additions over all codes",
	{Lists, reason.Resigned}:        "lists somebody who has left the company",
	{Lists, reason.TakenOff}:        "lists somebody whom an operator took off every list",
	{Lists, reason.Quarantined}:     "lists somebody whom WeCom refuses",
	{Lists, reason.RemovedToday}:    "lists somebody who was removed for the rest of the day",
	{Lists, reason.StaffMissing}:    "lists a member of whom Rollcall has no facts",
	{Lists, reason.OverMemberCap}:   "lists somebody beyond the 100 members that WeCom takes",
	{Lists, reason.BackupNotNeeded}: "lists a backup although members are left",
	{Lists, reason.NotAMember}:      "lists somebody whom the code does not name: its facts may be old",
	{Lacks, reason.Eligible}:        "lacks a member who can take customers",
	{Lacks, reason.BackupInUse}:     "lacks a backup although no member is left",
	{Lacks, reason.FallbackInUse}:   "lacks a fallback although nobody else is left",
	{Lacks, reason.KeptLast}:        "lacks somebody who is kept because nobody is left",
	{Lacks, reason.Guarded}:         "lacks somebody whose removal Rollcall refuses, since no fact explains it",
}
