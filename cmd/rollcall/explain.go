package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// explainLimit is how long the servers may take.
const explainLimit = 15 * time.Second

type explainOrder struct {
	staff, output, at string
	live              bool
}

func newExplainCommand() *cobra.Command {
	var o explainOrder
	cmd := &cobra.Command{
		Use:     "explain CODE",
		GroupID: groupOperator,
		Short:   "Say who is on a code's list, and why, and what is in the way",
		Long: `Decides from the facts as a refresher would, and sets beside it the list that was
pushed last, the rotation set, and everything that a push of the code waits for. With
--live it asks WeCom what it holds, which is one call of the tenant's. With --at it says
what the list was then, what a push waited for, and with --staff why somebody was on it.
A code is named by its ID, or as TENANT/CODE.`,
		Example: `  rollcall explain code-1
  rollcall explain acme/code-1 --staff amy
  rollcall explain code-1 --live
  rollcall explain code-1 --at "2026-11-30 10:20" --staff amy
  rollcall explain code-1 -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(cmd, o.output); err != nil {
				return err
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB, config.NeedRedis)
			if err != nil {
				return err
			}
			return explainCode(cmd, cfg, args[0], o)
		},
	}
	cmd.Flags().StringVar(&o.staff, "staff", "", "about one staff member")
	cmd.Flags().StringVar(&o.at, "at", "", "about an instant of the past: a time, or how long ago (90m)")
	cmd.Flags().BoolVar(&o.live, "live", false, "ask WeCom what it holds")
	cmd.MarkFlagsMutuallyExclusive("at", "live")
	addOutput(cmd, &o.output)
	return cmd
}

func explainCode(cmd *cobra.Command, cfg config.Config, name string, o explainOrder) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), explainLimit)
	defer cancel()
	explainer, err := service.OpenExplainer(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = explainer.Close(context.WithoutCancel(ctx)) }() // the process ends with the command
	x, err := explainer.Explain(ctx, service.Question{Code: name, Live: o.live})
	switch {
	case errors.Is(err, push.ErrUnknownCode):
		return fmt.Errorf("there is no code %s", name)
	case err != nil:
		return err
	case o.at != "":
		return explainPast(cmd.OutOrStdout(), x, o)
	case o.output == outputJSON:
		return printJSON(cmd.OutOrStdout(), explanationJSON(x, o.staff))
	case o.staff != "":
		return printOne(cmd.OutOrStdout(), x, o.staff)
	}
	return printExplanation(cmd.OutOrStdout(), x)
}

// printExplanation shows a code: what it is, whether its list is right, what is in
// the way, and everybody who is or could be on it.
func printExplanation(w io.Writer, x explain.Explanation) error {
	parts := []string{headline(x), verdictText(x)}
	for _, wait := range x.Waits {
		parts = append(parts, "  "+waitText(wait, x.At))
	}
	if len(x.Staff) > 0 {
		parts = append(parts, staffTable(x))
	}
	if text := vendorText(x); text != "" {
		parts = append(parts, text)
	}
	if !x.Finding.Hopeless() {
		parts = append(parts, pushedText(x))
	}
	if text := trailText(x.Trail); text != "" {
		parts = append(parts, text)
	}
	return say(w, strings.Join(parts, "\n"))
}

func headline(x explain.Explanation) string {
	if x.Finding.Hopeless() {
		return x.Tenant + "/" + x.Code
	}
	code := x.Facts.Code
	lane := "fast lane"
	if x.Verdict.Lane.Slow() {
		lane = "slow lane (" + x.Verdict.Lane.Interval.String() + ")"
	}
	way := "contact way " + code.ConfigID
	if code.ConfigID == "" {
		way = "no contact way"
	}
	return fmt.Sprintf("%s/%s: %s, %s, %s, revision %d", x.Tenant, x.Code, code.Family, lane, way, code.Revision)
}

func verdictText(x explain.Explanation) string {
	switch {
	case x.Finding.Hopeless():
		return fmt.Sprintf("No list can be decided: %s: %s.", x.Finding.Kind, x.Finding.Detail)
	case x.Facts.Code.Deleted:
		return "The code is deleted; its list is left as it is."
	case x.Finding.Kind == "" && len(x.Waits) == 0:
		return "The list is as the facts ask."
	case x.Finding.Kind == "":
		return "The list is as the facts ask. Another push would wait for:"
	case len(x.Waits) == 0:
		return fmt.Sprintf("The list is NOT as the facts ask (%s): %s. Nothing is known to be in the way; its event may be on its way, and the audit finds it otherwise.", x.Finding.Kind, x.Finding.Detail)
	}
	return fmt.Sprintf("The list is NOT as the facts ask (%s): %s. In the way:", x.Finding.Kind, x.Finding.Detail)
}

func waitText(w explain.Wait, now time.Time) string {
	if w.Until.IsZero() {
		return fmt.Sprintf("%s: %s", w.Cause, w.Detail)
	}
	return fmt.Sprintf("%s until %s (%s): %s", w.Cause, w.Until.UTC().Format(time.RFC3339), ahead(now, w.Until), w.Detail)
}

func staffTable(x explain.Explanation) string {
	columns := []any{"staff", "by the facts", "because", "", "pushed"}
	if asked(x) {
		columns = append(columns, "at wecom")
	}
	if x.Facts.Code.Family.Rotates() {
		columns = append(columns, "in rotation")
	}
	t := newTable(columns...)
	for _, l := range x.Staff {
		row := table.Row{l.Staff, listed[l.Listed], becauseText(l), l.Detail, yes[l.Pushed]}
		if asked(x) {
			row = append(row, yes[l.Held])
		}
		if x.Facts.Code.Family.Rotates() {
			row = append(row, yes[l.Seated])
		}
		t.AppendRow(row)
	}
	return t.Render()
}

func asked(x explain.Explanation) bool {
	return x.Vendor != nil && x.Vendor.Problem == "" && x.Vendor.Known
}

// The words for what holds and what does not.
var (
	listed = map[bool]string{true: "listed", false: "off"}
	yes    = map[bool]string{true: "yes", false: "-"}
)

func becauseText(l explain.Line) string {
	switch {
	case l.Why == "":
		return "not named"
	case l.Despite != "":
		return l.Why.String() + " despite " + l.Despite.String()
	}
	return l.Why.String()
}

func vendorText(x explain.Explanation) string {
	switch v := x.Vendor; {
	case v == nil:
		return ""
	case v.Problem != "":
		return "WeCom could not be asked: " + v.Problem
	case !v.Known:
		return "WeCom does not know the contact way."
	case len(v.Departments) > 0:
		return fmt.Sprintf("WeCom's contact way also lists departments %v, which Rollcall never does.", v.Departments)
	}
	return "WeCom was asked."
}

func pushedText(x explain.Explanation) string {
	c := x.Record.Committed
	text := "Never pushed."
	if c.Epoch > 0 {
		text = fmt.Sprintf("Last pushed %s (push %d, revision %d): %s.", at(c.At, ago(x.At, c.At)), c.Epoch, c.Revision, many(len(c.Members), "member"))
	}
	if len(c.Notes) > 0 {
		text += " Notes: " + joined(c.Notes) + "."
	}
	if next := x.Verdict.NextChange; !next.IsZero() {
		text += fmt.Sprintf(" Time alone changes the list %s.", at(next, ahead(x.At, next)))
	}
	return text
}

func many(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// printOne answers about one staff member in sentences.
func printOne(w io.Writer, x explain.Explanation, staff string) error {
	if x.Finding.Hopeless() {
		return printExplanation(w, x) // nothing was decided of anybody
	}
	l, known := x.Of(staff)
	if !known {
		return fmt.Errorf("%s has nothing to do with code %s/%s: it does not name him, and no list has him", staff, x.Tenant, x.Code)
	}
	lines := []string{sentence(x, l)}
	if l.Listed != l.Pushed {
		lines = append(lines, mismatch(x, l))
		for _, wait := range x.Waits {
			lines = append(lines, "  "+waitText(wait, x.At))
		}
	}
	if asked(x) && l.Held != l.Pushed {
		lines = append(lines, "WeCom "+map[bool]string{true: "lists", false: "does not list"}[l.Held]+" him, unlike the list that was pushed last: somebody else changed the contact way, or a push is under way.")
	}
	return say(w, strings.Join(lines, "\n"))
}

func sentence(x explain.Explanation, l explain.Line) string {
	text := fmt.Sprintf("%s is off the list of %s/%s", l.Staff, x.Tenant, x.Code)
	if l.Listed {
		text = fmt.Sprintf("%s belongs on the list of %s/%s", l.Staff, x.Tenant, x.Code)
	}
	text += ": " + becauseText(l)
	if l.Detail != "" {
		text += ", " + l.Detail
	}
	return text + "."
}

func mismatch(x explain.Explanation, l explain.Line) string {
	still := "But the list that was pushed last does not have him yet"
	if l.Pushed {
		still = "But the list that was pushed last still has him: customers who scan the code may reach him"
	}
	since := ""
	if c := x.Record.Committed; c.Epoch > 0 {
		since = fmt.Sprintf(" It was pushed %s.", at(c.At, ago(x.At, c.At)))
	}
	if len(x.Waits) == 0 {
		return still + "." + since + " Nothing is known to be in the way."
	}
	return still + "." + since + " In the way:"
}

// shownExplanation is an explanation as JSON.
type shownExplanation struct {
	Tenant     string        `json:"tenant"`
	Code       string        `json:"code"`
	At         time.Time     `json:"at"`
	Agrees     bool          `json:"agrees"`
	Difference reason.Reason `json:"difference,omitempty"`
	Detail     string        `json:"detail,omitempty"`
	Members    []string      `json:"members"` // by the facts
	Pushed     []string      `json:"pushed"`
	PushedAt   time.Time     `json:"pushed_at,omitzero"`
	Epoch      int64         `json:"epoch"`
	NextChange time.Time     `json:"next_change,omitzero"`
	Waits      []shownWait   `json:"waits"`
	Staff      []shownLine   `json:"staff"`
	WeCom      *shownVendor  `json:"wecom,omitempty"`
}

type shownWait struct {
	Cause  reason.Reason `json:"cause"`
	Until  time.Time     `json:"until,omitzero"`
	Detail string        `json:"detail"`
}

type shownLine struct {
	Staff      string        `json:"staff"`
	Listed     bool          `json:"listed"`
	Reason     reason.Reason `json:"reason,omitempty"`
	Despite    reason.Reason `json:"despite,omitempty"`
	Detail     string        `json:"detail,omitempty"`
	Pushed     bool          `json:"pushed"`
	InRotation bool          `json:"in_rotation"`
}

type shownVendor struct {
	Known   bool     `json:"known"`
	Members []string `json:"members"`
	Problem string   `json:"problem,omitempty"`
}

func explanationJSON(x explain.Explanation, staff string) shownExplanation {
	s := shownExplanation{
		Tenant: x.Tenant, Code: x.Code, At: x.At, Agrees: x.Finding.Kind == "", Difference: x.Finding.Kind, Detail: x.Finding.Detail,
		Members: some(x.Verdict.Members), Pushed: some(x.Record.Committed.Members), PushedAt: x.Record.Committed.At, Epoch: x.Record.Committed.Epoch,
		NextChange: x.Verdict.NextChange, Waits: []shownWait{}, Staff: []shownLine{},
	}
	for _, w := range x.Waits {
		s.Waits = append(s.Waits, shownWait(w))
	}
	for _, l := range x.Staff {
		if staff == "" || l.Staff == staff {
			s.Staff = append(s.Staff, shownLine{l.Staff, l.Listed, l.Why, l.Despite, l.Detail, l.Pushed, l.Seated})
		}
	}
	if v := x.Vendor; v != nil {
		s.WeCom = &shownVendor{Known: v.Known, Members: some(v.Users), Problem: v.Problem}
	}
	return s
}

// some is a list that JSON shows as [] and not as null.
func some(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
