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

func storeDown(v View) []Incident {
	var found []Incident
	for _, store := range []struct {
		server, name string
		parts        []Part
	}{{"MongoDB", "mongodb", []Part{PartDirty, PartFanOuts}}, {"Redis", "redis", []Part{PartBoard, PartBudget}}} {
		if u, failed := v.unread(store.parts...); failed {
			found = append(found, page("RollcallStoreDown", store.server+" does not answer here: "+u.Cause).because(reason.StoreDown))
			continue
		}
		all := v.alive("")
		without := missing(all, store.name)
		if 2*without > len(all) {
			text := fmt.Sprintf("%s does not answer %d of %d processes", store.server, without, len(all))
			found = append(found, page("RollcallStoreDown", text).because(reason.StoreDown))
		}
	}
	if n := v.held(reason.StoreDown); n > 0 && len(found) == 0 {
		found = append(found, page("RollcallStoreDown", codesWait(n)+" because a store does not answer their refresher").because(reason.StoreDown))
	}
	return found
}

// missing is how many processes say that a server does not answer them.
func missing(all []Instance, server string) int {
	n := 0
	for _, i := range all {
		if slices.ContainsFunc(i.Missing, func(m Missing) bool { return m.Name == server }) {
			n++
		}
	}
	return n
}

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

func refreshersDown(v View) []Incident {
	const runbook = "RollcallRefreshersDown"
	switch {
	case v.boardRead() && len(v.alive(Refresher)) == 0:
		return []Incident{page(runbook, "no refresher is heard: no list changes, events wait at the broker").since(lastHeard(v.Instances, Refresher))}
	case v.Broker != nil && len(v.Broker.Consumers) == 0:
		return []Incident{page(runbook, "no refresher is connected to the broker: no list changes")}
	}
	return nil
}

// lastHeard is when a process of the role told last; zero when none is known.
func lastHeard(all []Instance, role Role) time.Time {
	var last time.Time
	for _, i := range all {
		if i.Role == role && i.Heard.After(last) {
			last = i.Heard
		}
	}
	return last
}

func noKeeper(v View) []Incident {
	if !v.boardRead() || slices.ContainsFunc(v.alive(Keeper), func(i Instance) bool { return i.Leads }) {
		return nil
	}
	const text = "no keeper is at work: shifts, midnights and dirty codes change no list"
	return []Incident{page("RollcallNoKeeper", text).since(lastHeard(v.Instances, Keeper))}
}

func brokerDown(v View) []Incident {
	all := v.alive(Refresher)
	if len(all) == 0 || missing(all, "pulsar") < len(all) {
		return nil
	}
	return []Incident{page("RollcallBrokerDown", "no refresher is connected to the broker: no event comes through")}
}

// stuck is work that nobody does: codes in the refreshers all the time, or a
// message that has waited, while no refresh came to an end.
func stuck(v View) []Incident {
	if v.Work == nil || v.Work.LastFive.Accounted > 0 || len(v.alive(Refresher)) == 0 {
		return nil
	}
	since := v.At.Add(-stuckAfter)
	waits := v.Broker != nil && v.Broker.Backlog > 0 && !v.Broker.Oldest.IsZero() && v.Broker.Oldest.Before(since)
	if v.Work.LastFive.Busy == 0 && !waits {
		return nil
	}
	return []Incident{page("RollcallStuck", "there is work, and for five minutes no refresh has ended").since(since)}
}

func consumerBlocked(v View) []Incident {
	if v.Broker == nil || !v.Broker.Blocked {
		return nil
	}
	var names []string
	for _, c := range v.Broker.Consumers {
		if c.Blocked {
			names = append(names, c.Name)
		}
	}
	return []Incident{page("RollcallConsumerBlocked",
		fmt.Sprintf("the broker delivers no more to %s: too many un-acked messages", some(names, "the subscription")))}
}

func consumerStuck(v View) []Incident {
	if v.Broker == nil || v.Work == nil || v.Broker.Oldest.IsZero() || v.Work.LastFive.Accounted == 0 || v.At.Sub(v.Broker.Oldest) < oldMessage {
		return nil
	}
	text := fmt.Sprintf("codes move, and the oldest message does not; %d hashes are draining", v.Broker.Draining)
	return []Incident{page("RollcallConsumerStuck", text).since(v.Broker.Oldest)}
}

func freshnessBurns(v View) []Incident {
	if v.Freshness == nil || v.Freshness.LastHour.Late <= fewLate {
		return nil
	}
	burn := min(v.Freshness.LastFive.Burn(), v.Freshness.LastHour.Burn())
	hour := v.Freshness.LastHour
	text := fmt.Sprintf("%.1f %% of the last hour's pushes took longer than %v; %.0f %% may", 100*(1-hour.Share), Within, 100*(1-Objective))
	switch {
	case burn > burnFast:
		return []Incident{page("RollcallFreshnessBurnFast", text)}
	case burn > burnSlow:
		return []Incident{ticket("RollcallFreshnessBurnSlow", text)}
	}
	return nil
}

func vendorFailing(v View) []Incident {
	if v.Work == nil {
		return nil
	}
	calls, failed := v.Work.LastFive.Calls, v.Work.LastFive.Errors[reason.Transient]
	if failed <= fewTransient || float64(failed) <= mostTransient*float64(calls) {
		return nil
	}
	text := fmt.Sprintf("WeCom did not take %d of the last five minutes' %d calls", failed, calls)
	return []Incident{page("RollcallVendorFailing", text).because(reason.Transient)}
}

func tenantsBlocked(v View) []Incident {
	var names []string
	var until time.Time
	if v.Budget != nil {
		for _, t := range v.Budget.Hottest {
			if t.BlockedUntil.After(v.At) {
				names = append(names, t.Tenant)
				until = later(until, t.BlockedUntil)
			}
		}
	}
	held := v.held(reason.Blocked)
	if len(names) == 0 && held == 0 {
		return nil
	}
	text := fmt.Sprintf("WeCom has blocked %s (45009); %s held", some(names, "a tenant"), codes(held))
	if !until.IsZero() {
		text += ", until " + until.UTC().Format("15:04:05")
	}
	return []Incident{page("RollcallTenantBlocked", text).because(reason.Blocked)}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func tenantsSuspended(v View) []Incident {
	waiting := v.held(reason.Suspended)
	since := time.Time{}
	if v.Dirty != nil {
		for _, r := range v.Dirty.Reasons {
			if r.Reason == reason.Suspended || r.Reason == reason.Credentials {
				waiting += r.Codes
				since = earlier(since, r.Oldest)
			}
		}
	}
	if waiting == 0 {
		return nil
	}
	var names []string
	if v.Work != nil {
		for _, t := range v.Work.Top {
			if t.Held[reason.Suspended] > 0 {
				names = append(names, t.Tenant)
			}
		}
	}
	text := fmt.Sprintf("WeCom refuses the credentials of %s; %s", some(names, "a tenant"), codesWait(waiting))
	return []Incident{ticket("RollcallTenantSuspended", text).because(reason.Suspended).since(since)}
}

// earlier is the first of two instants of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func instancesDown(v View) []Incident {
	var names []string
	var since time.Time
	for _, i := range v.Instances {
		if i.Silent {
			names = append(names, string(i.Role)+" "+i.Instance)
			since = earlier(since, i.Heard)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []Incident{ticket("RollcallInstanceDown", "not heard any more: "+some(names, "")).since(since)}
}

func subscriptionUnseen(v View) []Incident {
	u, failed := v.unread(PartBroker)
	if !failed {
		return nil
	}
	return []Incident{ticket("RollcallSubscriptionUnseen", "the broker's statistics cannot be read: "+u.Cause)}
}

func heldNearLimit(v View) []Incident {
	if v.Work == nil || float64(v.Work.HeldSum) <= nearLimit*float64(v.Work.Limit) {
		return nil
	}
	text := fmt.Sprintf("the refreshers hold %d of the %d codes that they may; more go to the dirty set", v.Work.HeldSum, v.Work.Limit)
	return []Incident{ticket("RollcallHeldNearLimit", text)}
}

func refreshersFull(v View) []Incident {
	if v.Work == nil || v.Work.Load <= fullLoad || v.Work.Runnable == 0 {
		return nil
	}
	text := fmt.Sprintf("the work at hand could keep %.0f %% of the workers busy; %s in line", 100*v.Work.Load, codes(v.Work.Runnable))
	return []Incident{ticket("RollcallRefreshersFull", text)}
}

func panics(v View) []Incident {
	if v.Work == nil || v.Work.LastHour.Panics == 0 {
		return nil
	}
	text := counted(v.Work.LastHour.Panics, "refresh", "refreshes") + " of the last hour met a bug of Rollcall's; the log has the stack"
	return []Incident{ticket("RollcallPanics", text).because(reason.Panicked)}
}

func deadLetters(v View) []Incident {
	if v.Broker == nil || v.Broker.DeadLetters == 0 {
		return nil
	}
	return []Incident{ticket("RollcallDeadLetters", fmt.Sprintf("%d dead letters wait for a person", v.Broker.DeadLetters))}
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
		text := codes(r.Codes) + " dirty for longer than a wait lasts: a person is needed"
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
		reason.NobodyLeft, reason.Suspended, reason.SlowLane, reason.Paced, reason.Contended, reason.HandedBack,
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
