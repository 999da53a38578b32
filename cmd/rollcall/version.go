package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version is set by the linker (-X main.version=v1.2.3); a build without it
// takes the module's.
var version = ""

// build says what this binary was made from.
type build struct {
	version, commit, changed string
	date                     string // of the commit, YYYY-MM-DD; "" when it is unknown
}

func readBuild() build {
	b := build{version: version, commit: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b.named()
	}
	if b.version == "" && info.Main.Version != "(devel)" {
		b.version = info.Main.Version
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.commit = setting.Value[:min(12, len(setting.Value))]
		case "vcs.time":
			b.date, _, _ = strings.Cut(setting.Value, "T")
		case "vcs.modified":
			if setting.Value == "true" {
				b.changed = "+changes"
			}
		}
	}
	return b.named()
}

func (b build) named() build {
	if b.version == "" {
		b.version = "development"
	}
	return b
}

// String is the line that `rollcall version` prints after the name.
func (b build) String() string {
	commit := b.commit + b.changed
	if b.date != "" {
		commit += " of " + b.date
	}
	return fmt.Sprintf("%s (commit %s, %s, %s/%s)", b.version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Prints the version, the commit and its date, the Go release that built the program, and
the system that it was built for.`,
		GroupID: groupOperator,
		Example: `  rollcall version`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "rollcall %s\n", readBuild())
			return err
		},
	}
}
