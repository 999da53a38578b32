package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// shells are those that completion is written for, each with what writes it.
var shells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"zsh":        (*cobra.Command).GenZshCompletion,
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
}

func shellNames() []string { return []string{"bash", "zsh", "fish", "powershell"} }

func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "completion SHELL",
		GroupID: groupOperator,
		Short:   "Print a script that completes rollcall's commands in a shell",
		Long: `Prints a script for bash, zsh, fish or powershell, after which the Tab key completes
commands, flags, and the values of flags that have a closed set of them. Nothing is asked
of a server for it: tenants and codes are not completed.

Load it for one session as in the first example. To have it in each, write it to where
your shell looks for it: /etc/bash_completion.d/rollcall (with the package
bash-completion), a file _rollcall in a folder of zsh's $fpath,
~/.config/fish/completions/rollcall.fish, or your profile in PowerShell.`,
		Example: `  source <(rollcall completion bash)
  rollcall completion zsh > ~/.zfunc/_rollcall
  rollcall completion fish > ~/.config/fish/completions/rollcall.fish
  rollcall completion powershell >> $PROFILE`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), knownShell),
		ValidArgs: shellNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return shells[args[0]](cmd.Root(), cmd.OutOrStdout())
		},
	}
}

func knownShell(cmd *cobra.Command, args []string) error {
	if !slices.Contains(shellNames(), args[0]) {
		return unknownName("shell", args[0], cmd.CommandPath(), shellNames())
	}
	return nil
}

// complete gives every command below root what can be completed without asking
// anybody. Where that is nothing, a shell offers nothing, rather than the files
// of the folder; a flag that names a file keeps them.
func complete(cmd *cobra.Command) {
	if cmd.ValidArgs == nil && cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if takesFile(f) || f.Value.Type() == "bool" {
			return
		}
		choices := cobra.FixedCompletions(valuesOf(cmd, f), cobra.ShellCompDirectiveNoFileComp)
		if err := cmd.RegisterFlagCompletionFunc(f.Name, choices); err != nil {
			panic(err) // the flag is its own, and nobody else completes it
		}
	})
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
}

// takesFile reports a flag whose value is a path.
func takesFile(f *pflag.Flag) bool { return f.Name == "report" || f.Name == "into" }

// valuesOf are the values of a flag, when they are a closed set.
func valuesOf(cmd *cobra.Command, f *pflag.Flag) []string {
	switch name := cmd.Name() + " " + f.Name; {
	case f.Name == "output":
		return []string{f.DefValue, outputJSON}
	case f.Name == "all-of-reason", name == "list reason", name == "dirty reason":
		return dirtyReasons()
	case f.Name == "scope":
		return scopeNames()
	case name == "differences state":
		return differenceStates()
	case f.Name == "state":
		return stateNames()
	}
	return nil
}

func scopeNames() []string {
	names := make([]string, 0, len(access.Scopes()))
	for _, scope := range access.Scopes() {
		names = append(names, string(scope))
	}
	return names
}

// dirtyReasons are those for which a code can be dirty, as its metric names them.
func dirtyReasons() []string {
	for _, m := range metrics.Catalog() {
		for _, label := range m.Labels {
			if m.Name == "rollcall.dirty.codes" && label.Key == "reason" {
				return slices.DeleteFunc(slices.Clone(label.Values), func(v string) bool { return v == metrics.Other })
			}
		}
	}
	return nil
}
