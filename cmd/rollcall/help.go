package main

import (
	"github.com/spf13/cobra"
)

// newHelpCommand is `rollcall help`, with pages that belong to no command.
func newHelpCommand() *cobra.Command {
	help := &cobra.Command{
		Use:   "help [command]",
		Short: "Help about a command, the variables (env) or the metrics",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				word := append(rest, args...)[0]
				return unknownName("help topic", word, "rollcall help", append(subcommandNames(root), subcommandNames(cmd)...))
			}
			return about.Help()
		},
	}
	help.AddCommand(newHelpEnvCommand(), newHelpMetricsCommand())
	return help
}
