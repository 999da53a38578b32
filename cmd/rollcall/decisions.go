package main

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newDecisionsCommand() *cobra.Command {
	limit := 100
	cmd := &cobra.Command{
		Use:     "decisions",
		GroupID: groupOperator,
		Short:   "List what operators decided: dirty codes, dead letters, holds, lanes",
		Long: `Lists what operators decided, the newest first. A decision is recorded before it is
acted upon. One that is "begun" for longer than a moment belongs to a command that
was cut off: its code or letter shows whether it took effect, and it may be repeated.
Decisions are kept for 400 days.`,
		Example: `  rollcall decisions --limit 20`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLimit(limit); err != nil {
				return err
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			all, err := service.ListDecisions(cmd.Context(), cfg, limit)
			if err != nil {
				return fmt.Errorf("list the decisions: %w", err)
			}
			return printDecisions(cmd.OutOrStdout(), all)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "most decisions to list")
	return cmd
}

func printDecisions(w io.Writer, all []decision.Decision) error {
	if len(all) == 0 {
		return say(w, "Nothing has been decided.")
	}
	t := newTable("at", "by", "action", "subject", "tenant", "code", "state", "reason", "detail")
	for _, d := range all {
		detail := d.Detail
		if d.Failure != "" {
			detail = d.Failure
		}
		t.AppendRow(table.Row{
			d.At.Format(time.RFC3339), d.By, d.Action, d.Subject, d.Tenant, d.Code, d.State, shortened(d.Reason), shortened(detail),
		})
	}
	return say(w, fmt.Sprintf("%s\n%d listed", t.Render(), len(all)))
}
