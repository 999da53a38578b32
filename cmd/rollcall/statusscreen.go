package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/board"
)

// The screen's size, and how much of each list it has room for.
const (
	statusWidth    = 100
	mostIncidents  = 6
	mostCauses     = 4
	mostTenants    = 5
	mostRuns       = 3
	mostInstances  = 10
	mostOfName     = 28
	headingColumns = 11
)

// screen is what is put on it, line by line.
type screen struct{ lines []string }

// line adds a line, as much of it as the screen is wide.
func (s *screen) line(text string) {
	text = strings.TrimRight(text, " ")
	if runes := []rune(text); len(runes) > statusWidth {
		text = string(runes[:statusWidth-1]) + "…"
	}
	s.lines = append(s.lines, text)
}

func (s *screen) linef(format string, args ...any) { s.line(fmt.Sprintf(format, args...)) }

// under adds a line behind a heading; "" is none.
func (s *screen) under(heading, text string) { s.linef("%-*s%s", headingColumns, heading, text) }

// statusScreen is a view for a person, what is wrong first.
func statusScreen(seen shownStatus) string {
	var s screen
	s.line("rollcall   " + seen.At.UTC().Format("2006-01-02 15:04:05 UTC") + "   " + roles(seen.View) + after(", all of version ", oneVersion(seen.Instances)))
	s.line("")
	s.incidents(seen.View)
	s.line("")
	s.freshness(seen.View)
	s.work(seen.View)
	s.dirty(seen.View)
	s.broker(seen.View)
	s.budget(seen.View)
	if seen.Tenant != nil {
		s.tenant(*seen.Tenant, seen.At)
	}
	s.fanOuts(seen.View)
	s.instances(seen.View)
	return strings.Join(s.lines, "\n") + "\n"
}

// roles says how many processes of each role are heard.
func roles(v board.View) string {
	if v.Work == nil {
		return "no process can be seen"
	}
	heard := map[board.Role]int{}
	for _, i := range v.Instances {
		if !i.Silent {
			heard[i.Role]++
		}
	}
	var parts []string
	for _, role := range []board.Role{board.Refresher, board.Ingress, board.Keeper} {
		text := fmt.Sprintf("%d %s", heard[role], role)
		if heard[role] != 1 {
			text += map[board.Role]string{board.Ingress: "es"}[role]
			if role != board.Ingress {
				text += "s"
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func (s *screen) incidents(v board.View) {
	switch unread := slices.ContainsFunc(v.Unread, func(u board.Unread) bool { return !u.Unset }); {
	case len(v.Incidents) > 0:
	case unread:
		s.line("Nothing is wrong in what could be read.")
	default:
		s.line("Nothing is wrong.")
	}
	for _, i := range v.Incidents[:min(mostIncidents, len(v.Incidents))] {
		about := []string{i.Runbook}
		if i.Reason != "" {
			about = append(about, i.Reason.String())
		}
		if !i.Since.IsZero() {
			about = append(about, "for "+brief(v.At.Sub(i.Since)))
		}
		s.linef("%-7s%s", strings.ToUpper(string(i.Severity)), strings.Join(about, " · "))
		for text := range strings.SplitSeq(wrapWords(i.Text, statusWidth-7), "\n") {
			s.line("       " + text)
		}
	}
	if more := len(v.Incidents) - mostIncidents; more > 0 {
		s.linef("       and %d more: see -o json", more)
	}
}

// unread says that a part is not shown; false when it was read. Why not is in the
// incident that follows from it.
func (s *screen) unread(v board.View, heading string, part board.Part) bool {
	for _, u := range v.Unread {
		if u.Part != part {
			continue
		}
		if u.Unset {
			s.under(heading, "not asked: "+u.Cause)
		} else {
			s.under(heading, "cannot be read, see above")
		}
		return true
	}
	return false
}

func (s *screen) freshness(v board.View) {
	if s.unread(v, "FRESHNESS", board.PartBoard) || v.Freshness == nil {
		return
	}
	s.under("FRESHNESS", fmt.Sprintf("%9s %8s %8s %8s   %-12s %s", "pushes", "p50", "p95", "p99", "within "+board.Within.String(), "budget left"))
	for _, row := range []struct {
		name string
		kept board.Kept
	}{{"  5 minutes", v.Freshness.LastFive}, {"  1 hour", v.Freshness.LastHour}} {
		s.under(row.name, quantileRow(row.kept.Quantiles)+fmt.Sprintf("   %-12s %s", share(row.kept.Share), budgetLeft(row.kept)))
	}
	for _, row := range []struct {
		name, what string
		q          board.Quantiles
	}{{"  throttled", "waited for budget, 1 hour", v.Freshness.Throttled}, {"  slow lane", "1 hour", v.Freshness.Slow}} {
		if row.q.Count > 0 {
			s.under(row.name, quantileRow(row.q)+"   "+row.what)
		}
	}
}

func quantileRow(q board.Quantiles) string {
	if q.Count == 0 {
		return fmt.Sprintf("%9d %8s %8s %8s", 0, "-", "-", "-")
	}
	return fmt.Sprintf("%9s %8s %8s %8s", grouped(q.Count), brief(q.P50.Duration()), brief(q.P95.Duration()), brief(q.P99.Duration()))
}

func (s *screen) work(v board.View) {
	if v.Work == nil {
		return // as freshness, which has said why
	}
	w := v.Work
	s.under("WORK", fmt.Sprintf("%s in line, %d in flight of %s workers, load %s", grouped(w.Runnable), w.InFlight, grouped(w.Workers), share(w.Load)))
	s.under("  held", fmt.Sprintf("%s of %s%s", grouped(w.HeldSum), grouped(w.Limit), after(": ", causes(w.Held))))
	if busy := busyTenants(w.Top); busy != "" {
		s.under("  most", busy)
	}
	calls := fmt.Sprintf("%s calls in 5 minutes%s", grouped(w.LastFive.Calls), after(", errors ", causes(w.LastFive.Errors)))
	s.under("  WeCom", calls+after("; the budget refused: ", causes(w.LastFive.Refusals)))
}

// busyTenants are those with most codes that wait.
func busyTenants(top []board.TenantWork) string {
	var parts []string
	for _, t := range top {
		if t.Waiting() == 0 || len(parts) == mostTenants {
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s", t.Tenant, grouped(t.Waiting())))
	}
	return strings.Join(parts, ", ")
}

func (s *screen) dirty(v board.View) {
	if s.unread(v, "DIRTY", board.PartDirty) || v.Dirty == nil {
		return
	}
	var parts []string
	for _, r := range v.Dirty.Reasons[:min(mostCauses, len(v.Dirty.Reasons))] {
		parts = append(parts, fmt.Sprintf("%s %s (%s)", r.Reason, grouped(r.Codes), brief(v.At.Sub(r.Oldest))))
	}
	if len(v.Dirty.Reasons) > mostCauses {
		parts = append(parts, "…")
	}
	s.under("DIRTY", grouped(v.Dirty.Codes)+after(", by reason and oldest: ", strings.Join(parts, ", ")))
}

func (s *screen) broker(v board.View) {
	if s.unread(v, "BROKER", board.PartBroker) || v.Broker == nil {
		return
	}
	b := v.Broker
	oldest := "none waits"
	if !b.Oldest.IsZero() {
		oldest = "oldest " + brief(v.At.Sub(b.Oldest))
	}
	s.under("BROKER", fmt.Sprintf("backlog %s, un-acked %s, in replay %s, %s", grouped(b.Backlog), grouped(b.Unacked), grouped(b.InReplay), oldest))
	blocked := "not blocked"
	if b.Blocked {
		blocked = "BLOCKED"
	}
	s.under("", fmt.Sprintf("%s, draining hashes %s, ack holes %s, dead letters %s", blocked, grouped(b.Draining), grouped(b.AckHoles), grouped(b.DeadLetters)))
	for _, c := range b.Consumers {
		if !slices.ContainsFunc(v.Instances, func(i board.Instance) bool { return i.Role == board.Refresher && i.Instance == c.Name }) {
			s.under("", "consumer "+c.Name+", which tells nothing of itself: "+consumerRow(c))
		}
	}
}

func consumerRow(c board.Consumer) string {
	text := fmt.Sprintf("%s of keys, %s un-acked", share(c.Keys), grouped(c.Unacked))
	if c.Blocked {
		text = "BLOCKED, " + text
	}
	if c.Draining > 0 {
		text += fmt.Sprintf(", %s draining", grouped(c.Draining))
	}
	return text
}

func (s *screen) budget(v board.View) {
	if s.unread(v, "BUDGET", board.PartBudget) || v.Budget == nil {
		return
	}
	b := v.Budget
	if len(b.Hottest) == 0 {
		s.under("BUDGET", "no tenant has called in the last five minutes")
		return
	}
	s.under("BUDGET", fmt.Sprintf("a tenant's calls, of %s a minute and %s an hour", grouped(b.MinuteLimit), grouped(b.HourLimit)))
	for _, t := range b.Hottest[:min(mostTenants, len(b.Hottest))] {
		row := fmt.Sprintf("  %-24s %8s %6s %9s %6s", t.Tenant, grouped(t.Minute), of(t.Minute, b.MinuteLimit), grouped(t.Hour), of(t.Hour, b.HourLimit))
		if t.Refused > 0 {
			row += fmt.Sprintf("   %s refused", grouped(t.Refused))
		}
		if t.BlockedUntil.After(v.At) {
			row += "   BLOCKED until " + t.BlockedUntil.UTC().Format("15:04:05")
		}
		s.line(row)
	}
}

// tenant is a day of one tenant, an hour a column, and its last hour, a minute a
// column.
func (s *screen) tenant(t tenantCalls, now time.Time) {
	s.under("TENANT", t.Tenant)
	if t.Cause != "" {
		s.under("", "cannot be read: "+t.Cause)
		return
	}
	for _, row := range []struct {
		name    string
		columns int
		each    time.Duration
	}{{"  1 day", 24, time.Hour}, {"  1 hour", 60, time.Minute}} {
		granted, refused := columnsOf(t.Minutes, now, row.columns, row.each)
		s.under(row.name, fmt.Sprintf("%-60s %s calls, %s refused", bars(granted), grouped(total(granted)), grouped(total(refused))))
	}
}

func (s *screen) fanOuts(v board.View) {
	if s.unread(v, "FAN-OUTS", board.PartFanOuts) || v.FanOuts == nil {
		return
	}
	if v.FanOuts.Running == 0 {
		s.under("FAN-OUTS", "none is under way")
		return
	}
	s.under("FAN-OUTS", fmt.Sprintf("%s under way", grouped(v.FanOuts.Running)))
	for _, f := range v.FanOuts.Shown[:min(mostRuns, len(v.FanOuts.Shown))] {
		name := f.Tenant
		if f.Staff != "" {
			name += "/" + f.Staff
		}
		left := "time left not known yet"
		if f.LeftKnown {
			left = brief(f.Left.Duration()) + " left"
		}
		s.linef("  %-24s %-18s %s of %s, %s", name, f.Why, grouped(f.Done), grouped(f.Total), left)
	}
}

func (s *screen) instances(v board.View) {
	if len(v.Instances) == 0 {
		return
	}
	s.line("INSTANCES")
	shown := slices.SortedStableFunc(slices.Values(v.Instances), func(a, b board.Instance) int { return cmp.Compare(worry(a), worry(b)) })
	shown = shown[:min(mostInstances, len(shown))]
	width, same := 0, oneVersion(v.Instances) != ""
	for _, i := range shown {
		width = max(width, min(columns(i.Instance), mostOfName))
	}
	for _, i := range shown {
		version := ""
		if !same {
			version = fmt.Sprintf("%-11s ", shortVersion(i.Version))
		}
		s.linef("  %-9s %-*s %sup %-7s %s", i.Role, width, shortName(i.Instance, width), version, brief(v.At.Sub(i.Started)), doing(i, v))
	}
	if more := len(v.Instances) - len(shown); more > 0 {
		s.linef("  and %d more: see -o json", more)
	}
}

// oneVersion is the version that all processes have; "" when they differ.
func oneVersion(all []board.Instance) string {
	for _, i := range all {
		if i.Version != all[0].Version {
			return ""
		}
	}
	if len(all) == 0 {
		return ""
	}
	return shortVersion(all[0].Version)
}

// worry orders processes: those that need a look first.
func worry(i board.Instance) int {
	switch {
	case i.Silent:
		return 0
	case len(i.Missing) > 0:
		return 1
	}
	return 2
}

// doing is what there is to say of a process.
func doing(i board.Instance, v board.View) string {
	var parts []string
	switch {
	case i.Silent:
		return "SILENT for " + brief(v.At.Sub(i.Heard))
	case i.Leads:
		parts = append(parts, "at work")
	case i.Role == board.Keeper:
		parts = append(parts, "stands by")
	case i.Role == board.Refresher && i.Workers > 0:
		parts = append(parts, "load "+share(i.Load))
	}
	if v.Broker != nil && i.Role == board.Refresher {
		for _, c := range v.Broker.Consumers {
			if c.Name == i.Instance {
				parts = append(parts, consumerRow(c))
			}
		}
	}
	for _, m := range i.Missing {
		parts = append(parts, "NO "+m.Name)
	}
	return strings.Join(parts, ", ")
}
