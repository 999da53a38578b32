package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newDirtyCommand() *cobra.Command {
	cmd := newDirtyListCommand()
	cmd.Use, cmd.GroupID, cmd.Args = "dirty", groupOperator, knownSubcommand
	cmd.Short = "See the codes that could not be finished, try them again or give them up"
	cmd.Long = `The dirty set holds the codes that could not be finished: they wait longer than a hold
may be, failed too often, or their facts are missing or wrong. The keeper brings each
back when it is due. Without a subcommand it lists them (docs/dirty.md).`
	cmd.Example = `  rollcall dirty list --tenant acme --reason credentials
  rollcall dirty show acme/code-1
  rollcall dirty retry code-1 code-2
  rollcall dirty retry --all-of-reason credentials --tenant acme --reason "the secret is renewed"
  rollcall dirty drop acme/code-1 --reason "printed by mistake, never used"`
	cmd.AddCommand(newDirtyListCommand(), newDirtyShowCommand(), newDirtyRetryCommand(), newDirtyDropCommand())
	return cmd
}

// dirtyListing is which entries are listed, and how.
type dirtyListing struct {
	which  mongostore.DirtySelection
	noted  bool
	limit  int
	output string
}

func newDirtyListCommand() *cobra.Command {
	var cause string
	o := dirtyListing{limit: 1000}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the codes that could not be finished, and why",
		Long: `Lists the dirty set by tenant and code.

With --noted it lists codes that were pushed, but not quite as the facts ask: more
members than WeCom takes, nobody left, or a removal that was refused.`,
		Example: `  rollcall dirty list --tenant acme --reason overflow
  rollcall dirty list -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(checkLimit(o.limit), checkOutput(cmd, o.output)); err != nil {
				return err
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			o.which.Reason = reason.Reason(cause)
			if o.noted {
				return printNoted(cmd.OutOrStdout(), service.ListNoted(cmd.Context(), cfg))
			}
			return printDirty(cmd.OutOrStdout(), service.ListDirty(cmd.Context(), cfg, o.which), o, time.Now())
		},
	}
	cmd.Flags().BoolVar(&o.noted, "noted", false, "list codes whose last list came with notes")
	cmd.Flags().StringVar(&o.which.Tenant, "tenant", "", "list those of one tenant")
	cmd.Flags().StringVar(&cause, "reason", "", "list those with one reason among theirs")
	cmd.Flags().IntVar(&o.limit, "limit", o.limit, "most codes to list")
	cmd.MarkFlagsMutuallyExclusive("noted", "tenant")
	cmd.MarkFlagsMutuallyExclusive("noted", "reason")
	addOutput(cmd, &o.output)
	cmd.MarkFlagsMutuallyExclusive("noted", "output")
	return cmd
}

func newDirtyShowCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "show CODE",
		Short: "Show all that is known of a dirty code",
		Long:  `Shows one entry. A code is named by its ID, or as TENANT/CODE.`,
		Example: `  rollcall dirty show acme/code-1
  rollcall dirty show code-1 -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(cmd, output); err != nil {
				return err
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			entry, err := service.ShowDirty(cmd.Context(), cfg, args[0])
			if err != nil {
				return err
			}
			if output == outputJSON {
				return printJSON(cmd.OutOrStdout(), dirtyJSON(entry))
			}
			return printDirtyEntry(cmd.OutOrStdout(), entry, time.Now())
		},
	}
	addOutput(cmd, &output)
	return cmd
}

// shownDirty is an entry as JSON.
type shownDirty struct {
	Tenant    string          `json:"tenant"`
	Code      string          `json:"code"`
	Reasons   []reason.Reason `json:"reasons"`
	Detail    string          `json:"detail"`
	FirstSeen time.Time       `json:"first_seen"`
	LastSeen  time.Time       `json:"last_seen"`
	State     string          `json:"state"`
	Due       time.Time       `json:"due,omitzero"`     // not of a released one
	Confirm   time.Time       `json:"confirm,omitzero"` // of a released one: when it is looked at
	Marks     int             `json:"marks"`
	Attempts  int             `json:"attempts"`
}

func dirtyJSON(e mongostore.DirtyEntry) shownDirty {
	return shownDirty{
		Tenant: e.Tenant, Code: e.Code, Reasons: e.Reasons, Detail: e.Detail,
		FirstSeen: e.FirstSeen, LastSeen: e.LastSeen, State: e.State.String(), Due: e.Due, Confirm: e.Confirm, Marks: e.Count, Attempts: e.Attempts,
	}
}

func printDirty(w io.Writer, entries iter.Seq2[mongostore.DirtyEntry, error], o dirtyListing, now time.Time) error {
	t := newTable("tenant", "code", "reasons", "since", "due", "marks", "detail")
	listed := []shownDirty{}
	more := false
	for e, err := range entries {
		if err != nil {
			return fmt.Errorf("list the dirty set: %w", err)
		}
		if more = len(listed) == o.limit; more {
			break
		}
		listed = append(listed, dirtyJSON(e))
		t.AppendRow(table.Row{e.Tenant, e.Code, joined(e.Reasons), ago(now, e.FirstSeen), dueOf(e, now), e.Count, shortened(e.Detail)})
	}
	switch {
	case o.output == outputJSON:
		return printJSON(w, listed)
	case more:
		return say(w, fmt.Sprintf("%s\n%d listed, and there are more: see --limit, --tenant and --reason", t.Render(), len(listed)))
	case len(listed) == 0 && o.which != mongostore.DirtySelection{}:
		return say(w, "No such code is dirty.")
	case len(listed) == 0:
		return say(w, "The dirty set is empty.")
	}
	return say(w, fmt.Sprintf("%s\n%d dirty", t.Render(), len(listed)))
}

func printDirtyEntry(w io.Writer, e mongostore.DirtyEntry, now time.Time) error {
	t := newTable("", e.Tenant+"/"+e.Code)
	for _, line := range [][2]string{
		{"reasons", joined(e.Reasons)},
		{"state", e.State.String()},
		{"first seen", at(e.FirstSeen, ago(now, e.FirstSeen))},
		{"last seen", at(e.LastSeen, ago(now, e.LastSeen))},
		{"due", dueOf(e, now)},
		{"marks", fmt.Sprint(e.Count)},
		{"attempts", fmt.Sprint(e.Attempts)},
		{"detail", wrapWords(e.Detail, maxDetail)},
	} {
		t.AppendRow(table.Row{line[0], line[1]})
	}
	return say(w, t.Render())
}

// dueOf is when a code comes back, or is looked at after it came back.
func dueOf(e mongostore.DirtyEntry, now time.Time) string {
	if e.State == push.DirtyReleased {
		return "released, looked at " + ahead(now, e.Confirm)
	}
	return ahead(now, e.Due)
}

// at is an instant and how far it is.
func at(when time.Time, far string) string {
	return when.UTC().Format(time.RFC3339) + ", " + far
}

func printNoted(w io.Writer, records iter.Seq2[mongostore.CodeRecord, error]) error {
	t := newTable("tenant", "code", "notes", "members", "pushed")
	n := 0
	for r, err := range records {
		if err != nil {
			return fmt.Errorf("list the noted codes: %w", err)
		}
		n++
		c := r.Record.Committed
		t.AppendRow(table.Row{r.Tenant, r.Code, joined(c.Notes), len(c.Members), c.At.Format(time.RFC3339)})
	}
	if n == 0 {
		return say(w, "No code was pushed with notes.")
	}
	return say(w, fmt.Sprintf("%s\n%d noted", t.Render(), n))
}

func newTable(columns ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(columns)
	return t
}

func say(w io.Writer, text string) error {
	_, err := fmt.Fprintln(w, text)
	return err
}

func joined(reasons []reason.Reason) string {
	words := make([]string, len(reasons))
	for i, r := range reasons {
		words[i] = r.String()
	}
	return strings.Join(words, ", ")
}

func ago(now, then time.Time) string { return now.Sub(then).Round(time.Second).String() + " ago" }

func ahead(now, then time.Time) string {
	if d := then.Sub(now).Round(time.Second); d > 0 {
		return "in " + d.String()
	}
	return "now"
}

// maxDetail keeps a row on one screen.
const maxDetail = 80

func shortened(text string) string {
	if runes := []rune(text); len(runes) > maxDetail {
		return string(runes[:maxDetail-1]) + "…"
	}
	return text
}
