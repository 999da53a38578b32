package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// From when on something is an incident. Where an alert asks the same of a
// metric, the number is the alert's (charts/rollcall/files/rules).
const (
	burnFast      = 14.4 // times faster than the objective allows: 2 % of 30 days' budget in an hour
	burnSlow      = 6
	fewLate       = 10 // late pushes that are no trend
	mostTransient = 0.5
	fewTransient  = 5
	nearLimit     = 0.6
	fullLoad      = 0.9
	stuckAfter    = 5 * time.Minute
	oldMessage    = 10 * time.Minute
	oldRepair     = 4 * time.Hour
	oldWait       = 24 * time.Hour
)

// rules are what can be wrong, each told from a View alone.
var rules = []func(View) []Incident{
	storeDown, refreshersDown, noKeeper, brokerDown, stuck, consumerBlocked, consumerStuck,
	freshnessBurns, vendorFailing, tenantsBlocked, tenantsSuspended,
	instancesDown, subscriptionUnseen, heldNearLimit, refreshersFull, panics, deadLetters, dirtyOld, divergence,
}

// Incidents are what is wrong in a View, those that page first.
func Incidents(v View) []Incident {
	found := []Incident{}
	for _, rule := range rules {
		found = append(found, rule(v)...)
	}
	slices.SortStableFunc(found, func(a, b Incident) int { return cmp.Compare(urgency(a), urgency(b)) })
	return found
}

// Pages reports whether a person has to look now.
func Pages(incidents []Incident) bool {
	return slices.ContainsFunc(incidents, func(i Incident) bool { return i.Severity == Page })
}

func urgency(i Incident) int { return slices.Index([]Severity{Page, Ticket}, i.Severity) }

func page(runbook, text string) Incident {
	return Incident{Severity: Page, Runbook: runbook, Text: text}
}

func ticket(runbook, text string) Incident {
	return Incident{Severity: Ticket, Runbook: runbook, Text: text}
}

func (i Incident) because(why reason.Reason) Incident { i.Reason = why; return i }
func (i Incident) since(when time.Time) Incident      { i.Since = when; return i }

// unread is why a part could not be read; false when it was, or nobody asked.
func (v View) unread(parts ...Part) (Unread, bool) {
	for _, u := range v.Unread {
		if slices.Contains(parts, u.Part) && !u.Unset {
			return u, true
		}
	}
	return Unread{}, false
}

func (v View) alive(role Role) []Instance {
	return slices.DeleteFunc(slices.Clone(v.Instances), func(i Instance) bool {
		return i.Silent || role != "" && i.Role != role
	})
}

// boardRead says that the processes' reports were read: only then does a missing
// one mean something.
func (v View) boardRead() bool { return v.Work != nil }

func (v View) held(causes ...reason.Reason) int {
	if v.Work == nil {
		return 0
	}
	n := 0
	for _, cause := range causes {
		n += v.Work.Held[cause]
	}
	return n
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// earlier is the first of two instants of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func codes(n int) string       { return counted(n, "code", "codes") }
func codesWait(n int) string   { return counted(n, "code waits", "codes wait") }
func contactWays(n int) string { return counted(n, "contact way", "contact ways") }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// some names three, and how many there are beside them; otherwise when there is
// none.
func some(names []string, otherwise string) string {
	const shown = 3
	switch {
	case len(names) == 0:
		return otherwise
	case len(names) > shown:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
