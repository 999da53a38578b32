package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-dev/rollcall/internal/config"
)

// The groups of subcommands in the help. A command sets one as its GroupID.
const (
	groupRoles    = "roles"    // run until they are stopped
	groupOperator = "operator" // answer and end
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2 // the command line or the configuration is wrong; nothing was done
)

// commands lists the subcommands, each from a file of its own.
func commands() []*cobra.Command {
	return []*cobra.Command{
		newRefresherCommand(),
		newKeeperCommand(),
		newIngressCommand(),
		newTokenCommand(),
		newStatusCommand(),
		newDirtyCommand(),
		newExplainCommand(),
		newPlanCommand(),
		newAuditCommand(),
		newFanOutsCommand(),
		newDeliveriesCommand(),
		newSpotCommand(),
		newDeadLettersCommand(),
		newRefreshCommand(),
		newHoldCommand(),
		newSuspendCommand(),
		newReleaseCommand(),
		newLaneCommand(),
		newDecisionsCommand(),
		newMigrateCommand(),
		newSecretsCommand(),
		newPreflightCommand(),
		newProbeCommand(),
		newDemoCommand(),
		newCompletionCommand(),
		newVersionCommand(),
	}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "rollcall",
		Short: "Keeps the member list of every live QR code true",
		Long: `Rollcall keeps the member list of every live QR code (a WeCom contact way) true:
it decides from the facts who belongs on the list and is the only writer of it.

Everything is set by environment variables; "rollcall help env" explains them.`,
		Example: `  rollcall help env        # every variable, its default and what it accepts
  rollcall help metrics    # every metric and what to do about it
  rollcall explain code-1  # who is on a list, and why`,
		Version:                    readBuild().String(),
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true}, // ours is newCompletionCommand
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(suggestFlag)
	root.AddCommand(commands()...)
	addGroups(root)
	complete(root)
	help := newHelpCommand()
	complete(help)
	root.SetHelpCommand(help)
	return root
}

// addGroups gives root the groups that its commands name: an empty one would
// be a title over nothing.
func addGroups(root *cobra.Command) {
	for _, group := range []*cobra.Group{
		{ID: groupRoles, Title: "Roles:"},
		{ID: groupOperator, Title: "Operator's commands:"},
	} {
		if slices.ContainsFunc(root.Commands(), func(cmd *cobra.Command) bool { return cmd.GroupID == group.ID }) {
			root.AddGroup(group)
		}
	}
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return execute(ctx, newRootCommand(), args, stdout, stderr)
}

// execute takes what goes wrong before a command's own code has begun for a
// mistake in the command line.
func execute(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	begun := false
	prepare(root, func() { begun = true })
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintf(stderr, "rollcall: %s\n", strings.TrimSpace(err.Error()))
	if _, wrong := errors.AsType[*config.Mistakes](err); wrong {
		return exitUsage
	}
	if !begun {
		return exitUsage
	}
	return exitFailure
}

// prepare gives every command below root the same manners: begin is called
// before its own code, and a command that only groups others does not take an
// unknown subcommand for an argument.
func prepare(cmd *cobra.Command, begin func()) {
	if body := cmd.RunE; body != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			begin()
			return body(cmd, args)
		}
	}
	if allowed := cmd.Args; allowed != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error { return withUsage(cmd, allowed(cmd, args)) }
	}
	if cmd.HasSubCommands() && !cmd.Runnable() && cmd.HasParent() {
		cmd.Args = knownSubcommand
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		prepare(sub, begin)
	}
}

// withUsage adds what a command takes to a complaint about how many arguments it
// was given; one about what they are says enough.
func withUsage(cmd *cobra.Command, err error) error {
	if err == nil || !strings.Contains(err.Error(), "arg(s)") {
		return err
	}
	return fmt.Errorf("%w; usage: %s", err, cmd.UseLine())
}

// knownSubcommand refuses all arguments: a subcommand's name would not have
// arrived here.
func knownSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownName("command", args[0], cmd.CommandPath(), subcommandNames(cmd))
}

func subcommandNames(cmd *cobra.Command) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// unknownName is the error for a mistyped word, with the word that was meant.
func unknownName(what, word, where string, known []string) error {
	hint := fmt.Sprintf("see \"%s --help\"", where)
	if near := config.Nearest(word, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Errorf("unknown %s %q for %q; %s", what, word, where, hint)
}

// suggestFlag names the flag that a mistyped one most likely meant.
func suggestFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return fmt.Errorf("%w; see \"%s --help\"", err, cmd.CommandPath())
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	name := unknown.GetSpecifiedName()
	if len(name) > 1 {
		name = "--" + name
	} else {
		name = "-" + name
	}
	return unknownName("flag", name, cmd.CommandPath(), known)
}
