package main

import (
	"github.com/spf13/cobra"
)

// newHelpCommand is `rollcall help`, with pages that belong to no command.
func newHelpCommand() *cobra.Command {
	help := &cobra.Command{
		Use:   "help [command]",
		Short: "Help about a command, the variables (env) or the metrics",
		Long: `Shows the help of a command, as its --help does, or a page that belongs to none: every
environment variable (env), every metric (metrics), the man pages (man).`,
		Example: `  rollcall help explain
  rollcall help dirty retry
  rollcall help env`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: helpTopics,
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
	help.AddCommand(newHelpEnvCommand(), newHelpMetricsCommand(), newHelpManCommand())
	return help
}

// helpTopics completes the commands that help can be had about; its own pages are
// its subcommands.
func helpTopics(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return subcommandNames(about), cobra.ShellCompDirectiveNoFileComp
}
