package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
)

//go:generate sh -c "go run . help env --markdown > ../../docs/configuration.md"

func newHelpEnvCommand() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Every environment variable, its default, what it accepts and what it is",
		Long: `Lists every environment variable that Rollcall reads, by what it concerns: its default,
the values that it accepts, and what it is. Nothing of the environment is read.`,
		Example: `  rollcall help env
  rollcall help env --markdown > docs/configuration.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			render := envScreen
			if markdown {
				render = envMarkdown
			}
			_, err := io.WriteString(cmd.OutOrStdout(), render(config.Reference()))
			return err
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print docs/configuration.md")
	return cmd
}

const envIntroduction = "A variable set to nothing counts as not set. All mistakes are reported at once, at the start. " +
	"Variables that begin with ROLLCALL_ and are not listed here are warned about."

// screenWidth is the width in columns that the help pages are made for.
const screenWidth = 120

// envScreen renders the reference for a terminal.
func envScreen(sections []config.Section) string {
	var b strings.Builder
	b.WriteString(wrapWords(envIntroduction, screenWidth) + "\n")
	for _, section := range sections {
		title := strings.ToUpper(string(section.Concern)) + ": " + section.About
		b.WriteString("\n" + wrapWords(title, screenWidth) + "\n" + envTable(section) + "\n")
	}
	return b.String()
}

func envTable(section config.Section) string {
	t := table.NewWriter()
	t.SetStyle(screenStyle())
	t.AppendHeader(table.Row{"Variable", "Default", "Accepted", "What it is"})
	for _, v := range section.Variables {
		t.AppendRow(table.Row{v.Name, defaultOf(v), v.Type + ": " + v.Accepted, v.What})
	}
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 1, WidthMin: 35},
		{Number: 2, WidthMin: 21, WidthMax: 21, WidthMaxEnforcer: wrapWords},
		{Number: 3, WidthMin: 22, WidthMax: 22, WidthMaxEnforcer: wrapWords},
		{Number: 4, WidthMin: 31, WidthMax: 31, WidthMaxEnforcer: wrapWords},
	})
	return t.Render()
}

// screenStyle has lines between rows, because most rows wrap.
func screenStyle() table.Style {
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true, SeparateRows: true, SeparateColumns: true}
	style.Format.Header = text.FormatDefault
	return style
}

func defaultOf(v config.Variable) string {
	switch {
	case v.Required:
		return "required"
	case v.Default == "":
		return "not set"
	default:
		return v.Default
	}
}

// envMarkdown renders docs/configuration.md.
func envMarkdown(sections []config.Section) string {
	var b strings.Builder
	b.WriteString("# Configuration\n\n<!-- Printed by `rollcall help env --markdown`; a test compares. Change internal/config instead. -->\n\n")
	b.WriteString("Rollcall is set by environment variables alone. " + envIntroduction + " *Required* is what a role cannot start without, if it uses that part. `rollcall help env` shows this page in a terminal.\n")
	for _, section := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", section.Concern, section.About)
		t := table.NewWriter()
		t.AppendHeader(table.Row{"Variable", "Type", "Default", "Accepted", "What it is"})
		for _, v := range section.Variables {
			t.AppendRow(table.Row{"`" + v.Name + "`", v.Type, markdownDefault(v), v.Accepted, v.What})
		}
		b.WriteString(t.RenderMarkdown() + "\n")
	}
	return b.String()
}

func markdownDefault(v config.Variable) string {
	switch {
	case v.Required:
		return "*required*"
	case v.Default == "" || v.Computed:
		return defaultOf(v)
	default:
		return "`" + v.Default + "`"
	}
}
