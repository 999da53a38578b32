package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// maxListed is the most that one call lists.
const maxListed = 100_000

func newDeadLettersCommand() *cobra.Command {
	cmd := newDeadLettersListCommand()
	cmd.Use, cmd.GroupID, cmd.Args = "deadletters", groupOperator, knownSubcommand
	cmd.Short = "See the messages that nobody can act on, publish them again or discard them"
	cmd.Long = `A dead letter is a message that nobody can act on: it has no key, or the key of another
code, is in a version this build does not read, or is no event at all. Each waits until
an operator deals with it. Without a subcommand it lists those that wait
(docs/deadletters.md). ROLLCALL_PULSAR_ADMIN_URL has to be set.`
	cmd.Example = `  rollcall deadletters list
  rollcall deadletters show 12:3:0
  rollcall deadletters republish 12:3:0 12:4:0
  rollcall deadletters republish 12:5:0 --as-code code-1 --tenant acme --why importer_mended
  rollcall deadletters discard 12:6:0 --reason "a test of theirs"`
	cmd.AddCommand(newDeadLettersListCommand(), newDeadLettersShowCommand(), newRepublishCommand(), newDiscardCommand())
	return cmd
}

func newDeadLettersListCommand() *cobra.Command {
	limit := 100
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the dead letters that nobody has dealt with",
		Long: `Lists the dead letters that nobody has dealt with, oldest first (of each partition).
Listing leaves them where they are.`,
		Example: `  rollcall deadletters list --limit 20`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLimit(limit); err != nil {
				return err
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

func newDeadLettersShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a dead letter with its payload",
		Long: `Shows a letter's cause and key, when it was published and buried, its properties, and the
payload that nobody could act on. The letter is left where it is. Its ID is that of
"rollcall deadletters list".`,
		Example: `  rollcall deadletters show 12:3:0`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadConfig(cmd, config.NeedPulsar)
			if err != nil {
				return err
			}
			letter, err := service.ShowDeadLetter(cmd.Context(), cfg, args[0])
			if err != nil {
				return err
			}
			return printDeadLetter(cmd.OutOrStdout(), letter, time.Now())
		},
	}
}

func printDeadLetters(w io.Writer, all iter.Seq2[letters.Letter, error], now time.Time) error {
	t := newTable("letter", "message", "key", "cause", "buried", "size", "detail")
	n := 0
	for l, err := range all {
		if err != nil {
			return fmt.Errorf("list the dead letters: %w", err)
		}
		n++
		t.AppendRow(table.Row{l.ID, l.OriginalID, shortened(plain(l.Key)), l.Cause, ago(now, l.BuriedAt), len(l.Payload), shortened(plain(l.Detail))})
	}
	if n == 0 {
		return say(w, "There are no dead letters.")
	}
	return say(w, fmt.Sprintf("%s\n%d listed", t.Render(), n))
}

func printDeadLetter(w io.Writer, l letters.Letter, now time.Time) error {
	t := newTable("", l.ID)
	t.AppendRows([]table.Row{
		{"cause", l.Cause},
		{"detail", wrapWords(plain(l.Detail), maxDetail)},
		{"key", orWord(plain(l.Key), "(none)")},
		{"message", plain(l.OriginalID)},
		{"topic", plain(l.Topic)},
		{"published", at(l.PublishedAt, ago(now, l.PublishedAt))},
		{"buried", at(l.BuriedAt, ago(now, l.BuriedAt))},
	})
	for _, name := range slices.Sorted(maps.Keys(l.Properties)) {
		t.AppendRow(table.Row{"property " + plain(name), wrapWords(plain(l.Properties[name]), maxDetail)})
	}
	return say(w, t.Render()+"\n"+payloadText(l))
}

// maxPayloadShown keeps a payload on a few screens, in bytes: an event has 4096
// at most.
const maxPayloadShown = 4096

// payloadText is a payload for a person: as it is, where it is text that does
// nothing to a terminal, and in hex otherwise.
func payloadText(l letters.Letter) string {
	size := fmt.Sprintf("%d bytes", len(l.Payload))
	if l.Truncated {
		size = fmt.Sprintf("the first %d bytes of a longer one", len(l.Payload))
	}
	head := l.Payload[:min(len(l.Payload), maxPayloadShown)]
	if len(head) < len(l.Payload) {
		size += fmt.Sprintf(", of which %d are shown", len(head))
		for len(head) > 0 && !utf8.Valid(head) && len(head) > maxPayloadShown-utf8.UTFMax {
			head = head[:len(head)-1]
		}
	}
	switch {
	case len(head) == 0:
		return "payload: none"
	case isText(string(head)):
		return "payload, " + size + ":\n" + string(head)
	}
	return "payload, " + size + ":\n" + hex.Dump(l.Payload[:min(len(l.Payload), maxPayloadShown)])
}

func isText(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return false
		}
	}
	return true
}

// plain quotes a text that would do something to a terminal.
func plain(s string) string {
	if isText(s) {
		return s
	}
	return fmt.Sprintf("%q", s)
}
