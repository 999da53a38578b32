package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// latestShown is how much of a trail an explanation of now shows.
const latestShown = 8

// instant reads when an explanation is about: a time with its zone, a wall clock
// of the tenant's, or how long ago.
func instant(text string, now time.Time, zone *time.Location) (time.Time, error) {
	if ago, err := time.ParseDuration(text); err == nil && ago > 0 {
		return now.Add(-ago), nil
	}
	if at, ok := clockTime(text, zone); ok {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("--at %q is no time; want one like 2026-11-30T10:20:00+08:00, \"2026-11-30 10:20\" (the clock of %s), or how long ago: 90m", text, zone)
}

// clockTime reads a time with its zone, or a wall clock in a zone.
func clockTime(text string, zone *time.Location) (time.Time, bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, true
	}
	for _, layout := range []string{time.DateTime, "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// explainPast answers about an instant.
func explainPast(w io.Writer, x explain.Explanation, o explainOrder) error {
	zone, err := x.Facts.Tenant.Location()
	if err != nil {
		zone = time.UTC // the facts are hopeless; the trail is not
	}
	at, err := instant(o.at, x.At, zone)
	switch {
	case err != nil:
		return err
	case at.After(x.At):
		return fmt.Errorf("--at %s is not in the past", stamp(at))
	case o.output == outputJSON:
		return printJSON(w, pastJSON(x, at, o.staff))
	}
	return printPast(w, x, at, o.staff)
}

// shownPast is an instant of the past as JSON.
type shownPast struct {
	Tenant  string       `json:"tenant"`
	Code    string       `json:"code"`
	At      time.Time    `json:"at"`
	Known   bool         `json:"known"`
	Gap     string       `json:"gap,omitempty"`
	Members []string     `json:"members"`
	Staff   string       `json:"staff,omitempty"`
	Listed  bool         `json:"listed"` // of Staff
	Since   *shownEntry  `json:"since,omitempty"`
	Next    *shownEntry  `json:"next,omitempty"`
	Waiting *shownEntry  `json:"waiting,omitempty"`
	Full    []shownEntry `json:"at_ceiling"`
	Refused []shownEntry `json:"refused_pushes"`
}

type shownEntry struct {
	At    time.Time     `json:"at"`
	Epoch int64         `json:"push,omitempty"`
	Cause reason.Reason `json:"cause,omitempty"`
	Until time.Time     `json:"until,omitzero"`
	Staff string        `json:"staff,omitempty"`
	Count int           `json:"count,omitempty"`
	Limit int           `json:"limit,omitempty"`
	Event *shownEvent   `json:"event,omitempty"`
	Trace string        `json:"trace,omitempty"`
	Text  string        `json:"text"`
}

// shownEvent is the event behind an entry as JSON.
type shownEvent struct {
	Reason      string    `json:"reason"`
	Message     string    `json:"message"` // ledger:entry:partition
	PublishedAt time.Time `json:"published_at"`
}

func pastJSON(x explain.Explanation, at time.Time, staff string) shownPast {
	p := explain.OfPast(x.Record.Committed.Members, x.Trail, staff, at)
	full := p.Past.Full
	if staff != "" {
		full = p.Full
	}
	s := shownPast{
		Tenant: x.Tenant, Code: x.Code, At: at, Known: p.Known, Gap: p.Gap, Members: some(p.Members), Staff: staff, Listed: p.Listed,
		Since: entryJSON(p.Since), Next: entryJSON(p.Next), Waiting: entryJSON(p.Waiting), Full: entriesJSON(full), Refused: entriesJSON(p.Refused),
	}
	return s
}

func entriesJSON(entries []trail.Entry) []shownEntry {
	shown := make([]shownEntry, len(entries))
	for i, e := range entries {
		shown[i] = *entryJSON(e)
	}
	return shown
}

func entryJSON(e trail.Entry) *shownEntry {
	if e.At.IsZero() {
		return nil
	}
	s := &shownEntry{
		At: e.At, Epoch: e.Epoch, Cause: e.Cause, Until: e.Until, Staff: e.Staff, Count: e.Count, Limit: e.Limit, Trace: e.Trace, Text: entryText(e),
	}
	if e.Trigger.Message != "" {
		s.Event = &shownEvent{e.Trigger.Reason, e.Trigger.Message, e.Trigger.PublishedAt}
	}
	return s
}

// printPast shows a list of the past, or what it says of one member.
func printPast(w io.Writer, x explain.Explanation, at time.Time, staff string) error {
	if staff != "" {
		return printPastOne(w, x, explain.OfPast(x.Record.Committed.Members, x.Trail, staff, at))
	}
	p := trail.At(x.Record.Committed.Members, x.Trail, at)
	lines := []string{fmt.Sprintf("%s/%s at %s, %s: the list is not known: %s.", x.Tenant, x.Code, stamp(at), ago(x.At, at), p.Gap)}
	if p.Known {
		lines[0] = fmt.Sprintf("%s/%s at %s, %s: %s: %s.", x.Tenant, x.Code, stamp(at), ago(x.At, at), many(len(p.Members), "member"), strings.Join(p.Members, ", "))
		lines = append(lines, stood(p))
	}
	lines = append(lines, waited(p)...)
	lines = append(lines, listOf("Pushes that did not replace it:", p.Refused)...)
	lines = append(lines, listOf("Additions that reached or passed a ceiling while it stood:", p.Full)...)
	return say(w, strings.Join(lines, "\n"))
}

func printPastOne(w io.Writer, x explain.Explanation, p explain.Past) error {
	var lines []string
	switch {
	case !p.Known:
		lines = append(lines, fmt.Sprintf("Whether %s was on the list of %s/%s at %s is not known: %s.", p.Staff, x.Tenant, x.Code, stamp(p.At), p.Gap))
	case p.Listed:
		lines = append(lines, fmt.Sprintf("%s was on the list of %s/%s at %s%s.", p.Staff, x.Tenant, x.Code, stamp(p.At), since(p)))
		lines = append(lines, origin(p.Came)...)
		lines = append(lines, left(p))
		lines = append(lines, origin(p.Left)...)
	default:
		lines = append(lines, fmt.Sprintf("%s was not on the list of %s/%s at %s%s.", p.Staff, x.Tenant, x.Code, stamp(p.At), since(p)))
		lines = append(lines, origin(p.Came)...)
	}
	lines = append(lines, waited(p.Past)...)
	lines = append(lines, listOf("Pushes that did not replace that list:", p.Refused)...)
	lines = append(lines, listOf("His additions that reached or passed a ceiling while that list stood:", p.Full)...)
	return say(w, strings.Join(lines, "\n"))
}

// listOf is a title over entries; nothing when there are none.
func listOf(title string, entries []trail.Entry) []string {
	if len(entries) == 0 {
		return nil
	}
	lines := []string{title}
	for _, e := range entries {
		lines = append(lines, entryLines(e)...)
	}
	return lines
}

func since(p explain.Past) string {
	if p.Came.At.IsZero() {
		return ""
	}
	word := "came"
	if !p.Listed {
		word = "left"
	}
	return fmt.Sprintf("; he %s at %s (push %d): %s", word, stamp(p.Came.At), p.Came.Epoch, reasonOr(p.Why.String()))
}

func left(p explain.Past) string {
	if p.Left.At.IsZero() {
		return "He is still on it."
	}
	return fmt.Sprintf("He left it at %s (push %d), %s later: %s.", stamp(p.Left.At), p.Left.Epoch, p.Left.At.Sub(p.At).Round(time.Second), reasonOr(p.WhyLeft.String()))
}

func reasonOr(why string) string {
	if why == "" {
		return "the code did not name him any more"
	}
	return why
}

// stood says since when and until when a list stood.
func stood(p trail.Past) string {
	text := fmt.Sprintf("It was pushed at %s (push %d)", stamp(p.Since.At), p.Since.Epoch)
	if p.Next.At.IsZero() {
		return text + " and still stands."
	}
	return text + fmt.Sprintf(" and replaced at %s (push %d).", stamp(p.Next.At), p.Next.Epoch)
}

func waited(p trail.Past) []string {
	if p.Waiting.At.IsZero() {
		return nil
	}
	said := "A push waited then: "
	if until := p.Waiting.Until; !until.IsZero() && until.Before(p.At) {
		said = "A push had waited before, and perhaps still did: "
	}
	return append([]string{said + entryText(p.Waiting)}, origin(p.Waiting)...)
}

// trailText are the newest entries, as an explanation of now ends with.
func trailText(entries []trail.Entry) string {
	if len(entries) == 0 {
		return ""
	}
	return strings.Join(listOf("What happened last (--at TIME looks back):", entries[max(0, len(entries)-latestShown):]), "\n")
}

// entryLines are an entry and, below it, what it came from.
func entryLines(e trail.Entry) []string {
	lines := []string{"  " + entryText(e)}
	for _, line := range origin(e) {
		lines = append(lines, "  "+line)
	}
	return lines
}

// origin names the event and the trace that led to an entry, as far as they are
// known.
func origin(e trail.Entry) []string {
	var parts []string
	if t := e.Trigger; t.Message != "" {
		parts = append(parts, fmt.Sprintf("event %q of %s (message %s)", t.Reason, stamp(t.PublishedAt), t.Message))
	}
	if e.Trace != "" {
		parts = append(parts, "trace "+e.Trace)
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"  by " + strings.Join(parts, ", ")}
}

func entryText(e trail.Entry) string {
	switch e.Kind {
	case trail.Pushed:
		return fmt.Sprintf("%s push %d, %s: %s", stamp(e.At), e.Epoch, many(e.Size, "member"), movesText(e.Moves))
	case trail.Refused:
		return fmt.Sprintf("%s push %d %s: %s%s", stamp(e.At), e.Epoch, taken(e), e.Cause, inParentheses(e.Detail))
	case trail.Full:
		return fmt.Sprintf("%s addition of %s: %d of %d (%s)", stamp(e.At), e.Staff, e.Count, e.Limit, e.Cause)
	case trail.Waits:
	}
	text := fmt.Sprintf("%s waits: %s", stamp(e.At), e.Cause)
	if !e.Until.IsZero() {
		text += " until " + stamp(e.Until)
	}
	return text + inParentheses(e.Detail)
}

// taken says whether WeCom has the list of a push that no record tells of.
func taken(e trail.Entry) string {
	if e.Unknown {
		return "perhaps taken"
	}
	return "refused"
}

func inParentheses(detail string) string {
	if detail == "" {
		return ""
	}
	return " (" + shortened(detail) + ")"
}

func movesText(moves []trail.Move) string {
	if len(moves) == 0 {
		return "the same members"
	}
	words := make([]string, len(moves))
	for i, m := range moves {
		words[i] = "-" + m.Staff
		if m.Came {
			words[i] = "+" + m.Staff
		}
		if m.Why != "" {
			words[i] += " (" + m.Why.String() + ")"
		}
	}
	return strings.Join(words, ", ")
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
