package main

import (
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// maxListed is the most dead letters that one call lists.
const maxListed = 100_000

func newDeadLettersCommand() *cobra.Command {
	limit := 100
	cmd := &cobra.Command{
		Use:     "deadletters",
		GroupID: groupOperator,
		Short:   "List the messages that nobody can act on, and why",
		Long: `Lists the dead-letter topic, oldest first: messages without a key, in a version this
build does not read, or that are no event at all. Listing leaves them there.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > maxListed {
				return fmt.Errorf("--limit is %d; want 1 to %d", limit, maxListed)
			}
			cfg, err := loadConfig(cmd, config.NeedPulsar)
			if err != nil {
				return err
			}
			return printDeadLetters(cmd.OutOrStdout(), service.ListDeadLetters(cmd.Context(), cfg, limit), time.Now())
		},
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "most messages to list")
	return cmd
}

func printDeadLetters(w io.Writer, letters iter.Seq2[pulsarbus.DeadLetter, error], now time.Time) error {
	t := newTable("message", "key", "cause", "buried", "size", "detail")
	n := 0
	for l, err := range letters {
		if err != nil {
			return fmt.Errorf("list the dead letters: %w", err)
		}
		n++
		t.AppendRow(table.Row{l.OriginalID, shortened(l.Key), l.Cause, ago(now, l.BuriedAt), len(l.Payload), shortened(l.Detail)})
	}
	if n == 0 {
		return say(w, "There are no dead letters.")
	}
	return say(w, fmt.Sprintf("%s\n%d listed", t.Render(), n))
}
