package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newSecretsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "secrets",
		GroupID: groupOperator,
		Short:   "Count the tenants' secrets by their key, and renew those of an old one",
		Long: `The secrets of tenants (app secrets, callback keys, webhooks) are sealed in MongoDB
with the first key of ROLLCALL_SEAL_KEYS; every key of it opens. To replace a key:

  1. put the new key behind the old one and roll that out,
  2. put it first and roll that out,
  3. run "rollcall secrets reseal",
  4. when "rollcall secrets status" counts nothing under the old key, remove it.`,
		Example: `  rollcall secrets status
  rollcall secrets reseal`,
	}
	cmd.AddCommand(newSecretsStatusCommand(), newSecretsResealCommand())
	return cmd
}

func newSecretsStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Count the secrets by the key that seals them",
		Long: `Counts the sealed secrets of each kind by the ID of their key, and those that are in
clear. Nothing is opened for it and nothing is shown of a secret.`,
		Example: `  rollcall secrets status`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			counts, err := service.SecretStatus(cmd.Context(), cfg)
			if err != nil {
				return fmt.Errorf("count the secrets: %w", err)
			}
			return printSecretStatus(cmd.OutOrStdout(), counts, cfg.Seal.Keys.Ring().Sealing())
		},
	}
}

func newSecretsResealCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reseal",
		Short: "Seal with the first key what is in clear or sealed with another",
		Long: `Seals with the first key of ROLLCALL_SEAL_KEYS whatever is in clear or sealed with
another key. It never undoes what is written meanwhile, may be stopped at any
time, and may be run again. It fails when a secret does not open.`,
		Example: `  rollcall secrets reseal`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			done, err := service.ResealSecrets(cmd.Context(), cfg)
			return printResealed(cmd.OutOrStdout(), done, err)
		},
	}
}

// printSecretStatus tells the counts by place and key; first is the ID of the
// key that seals now, "" when there is none.
func printSecretStatus(w io.Writer, counts []mongostore.SecretCount, first string) error {
	t := newTable("secret", "key", "count")
	total, old, plain, unopened := 0, 0, 0, 0
	for _, c := range counts {
		for _, id := range slices.Sorted(maps.Keys(c.Sealed)) {
			t.AppendRow(table.Row{c.Place, id, c.Sealed[id]})
			total += c.Sealed[id]
			if id != first {
				old += c.Sealed[id]
			}
		}
		if c.Plain > 0 {
			t.AppendRow(table.Row{c.Place, "(in clear)", c.Plain})
			total += c.Plain
		}
		plain += c.Plain
		unopened += c.Unopened
	}
	if total+unopened == 0 {
		return say(w, "There are no secrets.")
	}
	return say(w, fmt.Sprintf("%s\n%s", t.Render(), strings.Join(secretSummary(first, total, old, plain, unopened), "\n")))
}

// secretSummary says what the counts mean, a sentence a line.
func secretSummary(first string, total, old, plain, unopened int) []string {
	lines := []string{fmt.Sprintf("%d in all: %d with the first key (%s), %d with others, %d in clear", total, total-old-plain, first, old, plain)}
	if first == "" {
		lines[0] = fmt.Sprintf("%d in all: %d sealed, %d in clear; ROLLCALL_SEAL_KEYS is not set", total, total-plain, plain)
	}
	if unopened > 0 {
		lines = append(lines, fmt.Sprintf("%d do not open with the keys of this process", unopened))
	}
	return lines
}

// printResealed tells what a reseal did, also when it ended early.
func printResealed(w io.Writer, done mongostore.Resealed, cause error) error {
	if cause != nil {
		cause = fmt.Errorf("reseal: %w", cause)
		if done.Sealed+done.Renewed+done.Current+done.Unopened == 0 {
			return cause // it did not begin
		}
	}
	text := fmt.Sprintf("sealed %d that were in clear, renewed %d of other keys, found %d of the first key",
		done.Sealed, done.Renewed, done.Current)
	if done.Overtaken > 0 {
		text += fmt.Sprintf("\n%d were written by others just now; run it once more", done.Overtaken)
	}
	if done.Unopened > 0 {
		cause = errors.Join(cause, unopenedSecrets(done))
	}
	return errors.Join(cause, say(w, text))
}

func unopenedSecrets(done mongostore.Resealed) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%d secrets do not open and were left as they are:", done.Unopened)
	for _, cause := range done.Causes {
		fmt.Fprintf(&text, "\n  %v", cause)
	}
	if more := done.Unopened - len(done.Causes); more > 0 {
		fmt.Fprintf(&text, "\n  and %d more", more)
	}
	return errors.New(text.String())
}
