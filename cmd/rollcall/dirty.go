package main

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newDirtyCommand() *cobra.Command {
	var noted bool
	cmd := &cobra.Command{
		Use:     "dirty",
		GroupID: groupOperator,
		Short:   "List the codes that could not be finished, and why",
		Long: `Lists the dirty set: codes that wait longer than a hold may be, failed too often, or
whose facts are missing or wrong. The keeper brings each back when it is due.

With --noted it lists codes that were pushed, but not quite as the facts ask: more
members than WeCom takes, nobody left, or a removal that was refused.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			if noted {
				return printNoted(cmd.OutOrStdout(), service.ListNoted(cmd.Context(), cfg))
			}
			return printDirty(cmd.OutOrStdout(), service.ListDirty(cmd.Context(), cfg), time.Now())
		},
	}
	cmd.Flags().BoolVar(&noted, "noted", false, "list codes whose last list came with notes")
	return cmd
}

func printDirty(w io.Writer, entries iter.Seq2[mongostore.DirtyEntry, error], now time.Time) error {
	t := newTable("tenant", "code", "reasons", "since", "due", "marks", "detail")
	n := 0
	for e, err := range entries {
		if err != nil {
			return fmt.Errorf("list the dirty set: %w", err)
		}
		n++
		t.AppendRow(table.Row{e.Tenant, e.Code, joined(e.Reasons), ago(now, e.FirstSeen), ahead(now, e.Due), e.Count, shortened(e.Detail)})
	}
	if n == 0 {
		return say(w, "The dirty set is empty.")
	}
	return say(w, fmt.Sprintf("%s\n%d dirty", t.Render(), n))
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
