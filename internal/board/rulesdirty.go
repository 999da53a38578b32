package board

import (
	"fmt"
	"slices"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

func deadLetters(v View) []Incident {
	if v.Broker == nil || v.Broker.DeadLetters == 0 {
		return nil
	}
	return []Incident{ticket("RollcallDeadLetters", counted(int(v.Broker.DeadLetters), "dead letter waits", "dead letters wait")+" for a person")}
}

// dirtyOld is one incident for each reason: each is mended in its own way.
func dirtyOld(v View) []Incident {
	if v.Dirty == nil {
		return nil
	}
	var found []Incident
	for _, r := range v.Dirty.Reasons {
		limit := oldRepair
		if slices.Contains(waits, r.Reason) {
			limit = oldWait
		}
		if r.Oldest.IsZero() || v.At.Sub(r.Oldest) < limit || slices.Contains(patient, r.Reason) {
			continue
		}
		who := "a code has"
		if r.Codes > 1 {
			who = "the oldest of " + codes(r.Codes) + " has"
		}
		text := who + " been dirty for longer than a wait lasts: a person is needed"
		found = append(found, ticket("RollcallDirtyOld", text).because(r.Reason).since(r.Oldest))
	}
	return found
}

// waits are the reasons for which a code only has to wait, and should be back
// within a day. patient are those for which it may be dirty for as long as it
// likes: they have an alert of their own, or wait for people.
var (
	waits = []reason.Reason{
		reason.Throttled, reason.Blocked, reason.Overflow, reason.StoreDown, reason.Unpublished, reason.Unsettled,
		reason.Backoff, reason.BreakerOpen,
	}
	patient = []reason.Reason{
		reason.NobodyLeft, reason.Suspended, reason.OnHold, reason.SlowLane, reason.Paced, reason.Contended, reason.HandedBack,
	}
)

func divergence(v View) []Incident {
	if v.Dirty == nil {
		return nil
	}
	var found []Incident
	for _, r := range v.Dirty.Reasons {
		if r.Codes > 0 && (r.Reason == reason.ForeignEdit || r.Reason == reason.AttributesDiffer) {
			text := fmt.Sprintf("somebody else changed %s at WeCom; they are being mended", contactWays(r.Codes))
			found = append(found, ticket("RollcallDivergence", text).because(r.Reason).since(r.Oldest))
		}
	}
	return found
}
