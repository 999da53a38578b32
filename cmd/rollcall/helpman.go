package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:generate go run . help man --into ../../man

func newHelpManCommand() *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use:   "man [COMMAND...]",
		Short: "The manual page of a command, or all of them as files",
		Long: `Prints the manual page (section 1) of a command, of rollcall itself without one. With
--into it writes a page for every command into a folder, and removes what else is called
rollcall*.1 there. The pages are in the repository under man/; "make man" writes them.`,
		Example: `  rollcall help man explain | man -l -
  rollcall help man dirty retry
  rollcall help man --into /usr/local/share/man/man1`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := newRootCommand() // not the one that runs: that was given manners, see prepare
			if into != "" {
				return writeManual(root, into)
			}
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownName("command", append(rest, args...)[0], root.CommandPath(), subcommandNames(root))
			}
			_, err = io.WriteString(cmd.OutOrStdout(), manPage(about))
			return err
		},
	}
	cmd.Flags().StringVar(&into, "into", "", "write all pages into this folder")
	return cmd
}

// manual is every page by the name of its file.
func manual(root *cobra.Command) map[string]string {
	pages := map[string]string{}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		pages[manName(cmd)+".1"] = manPage(cmd)
		for _, sub := range manSubcommands(cmd) {
			add(sub)
		}
	}
	add(root)
	return pages
}

// manSubcommands are the subcommands that have pages, by name; that of help
// itself is all in rollcall's own.
func manSubcommands(cmd *cobra.Command) []*cobra.Command {
	var subs []*cobra.Command
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			subs = append(subs, sub)
		}
	}
	slices.SortFunc(subs, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
	return subs
}

// writeManual leaves the pages in a folder, and no other ones of rollcall's.
func writeManual(root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // everybody reads manuals
		return fmt.Errorf("make the folder of the manual: %w", err)
	}
	pages := manual(root)
	old, err := filepath.Glob(filepath.Join(folder, "rollcall*.1"))
	if err != nil {
		return fmt.Errorf("look for pages of before: %w", err)
	}
	for _, path := range old {
		if _, kept := pages[filepath.Base(path)]; kept {
			continue
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove a page of before: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(pages[name]), 0o644); err != nil { //nolint:gosec // everybody reads manuals
			return fmt.Errorf("write a page of the manual: %w", err)
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage renders the page of a command in the macros of man(7). It has no date
// and no version, so that it changes only with what it says.
func manPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	page := &roff{}
	page.line(`.\" Printed by "rollcall help man"; change cmd/rollcall instead.`)
	page.line(`.TH "` + strings.ToUpper(manName(cmd)) + `" 1 "" "Rollcall" "Rollcall's commands"`)
	page.section("NAME")
	page.line(escaped(manName(cmd)) + ` \- ` + escaped(cmd.Short))
	page.section("SYNOPSIS")
	page.synopsis(cmd)
	page.section("DESCRIPTION")
	page.prose(orWord(cmd.Long, cmd.Short))
	page.commands(cmd)
	page.options("OPTIONS", cmd.LocalFlags())
	if cmd.Example != "" {
		page.section("EXAMPLES")
		page.verbatim(strings.Split(cmd.Example, "\n"))
	}
	page.section("EXIT STATUS")
	page.prose("0: done. 1: it failed. 2: the command line or the configuration is wrong, and nothing was done.")
	page.section("ENVIRONMENT")
	page.prose(`Rollcall is set by variables that begin with ROLLCALL_; "rollcall help env" explains each.`)
	page.seeAlso(cmd)
	return page.text.String()
}

// roff writes the macros of man(7).
type roff struct{ text strings.Builder }

func (r *roff) line(text string) { _, _ = r.text.WriteString(text + "\n") } // it never fails

func (r *roff) section(title string) { r.line(".SH " + title) }

func (r *roff) synopsis(cmd *cobra.Command) {
	if cmd.Runnable() || !cmd.HasSubCommands() {
		r.line(`.B ` + escaped(cmd.CommandPath()))
		r.line(escaped(strings.TrimSpace(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath()))))
		r.line(".br")
	}
	if len(manSubcommands(cmd)) > 0 {
		r.line(`.B ` + escaped(cmd.CommandPath()))
		r.line(`\fICOMMAND\fR [flags]`)
	}
}

// text sets paragraphs; one whose lines are indented stays as it is.
func (r *roff) prose(text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			r.line(".PP")
		}
		lines := strings.Split(paragraph, "\n")
		if strings.HasPrefix(lines[0], "  ") {
			r.verbatim(lines)
			continue
		}
		for _, line := range lines {
			r.line(escaped(line))
		}
	}
}

func (r *roff) verbatim(lines []string) {
	r.line(".nf")
	for _, line := range lines {
		r.line(escaped(line))
	}
	r.line(".fi")
}

func (r *roff) commands(cmd *cobra.Command) {
	subs := manSubcommands(cmd)
	if len(subs) == 0 {
		return
	}
	r.section("COMMANDS")
	for _, sub := range subs {
		r.line(".TP")
		r.line(`.B ` + escaped(sub.Name()))
		r.line(escaped(sub.Short))
	}
}

func (r *roff) options(title string, flags *pflag.FlagSet) {
	r.section(title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		kind, usage := pflag.UnquoteUsage(f)
		if kind != "" {
			name += " " + kind
		}
		r.line(".TP")
		r.line(`.B ` + escaped(name))
		r.line(escaped(usage + defaultText(f)))
	})
}

// defaultText is what a flag is without being given, if that is something.
func defaultText(f *pflag.Flag) string {
	if slices.Contains([]string{"", "false", "0", "0s", "[]"}, f.DefValue) {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

func (r *roff) seeAlso(cmd *cobra.Command) {
	var others []string
	if cmd.HasParent() {
		others = append(others, manName(cmd.Parent()))
	}
	for _, sub := range manSubcommands(cmd) {
		others = append(others, manName(sub))
	}
	r.section("SEE ALSO")
	for i, other := range others {
		end := ","
		if i == len(others)-1 {
			end = ""
		}
		r.line(`.BR ` + escaped(other) + ` (1)` + end)
	}
}

// escaped is text in which nothing is a macro or an escape.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
