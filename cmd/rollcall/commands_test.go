package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// Each command says what it is, at length, and by examples that it takes.
func TestEveryCommandIsExplained(t *testing.T) {
	seen := 0
	tree := func() *cobra.Command {
		root := newRootCommand()
		root.InitDefaultHelpCmd()
		return root
	}
	for _, cmd := range withSubcommands(tree()) {
		seen++
		for _, fault := range faultsOf(cmd, tree) {
			t.Errorf("%s: %s", cmd.CommandPath(), fault)
		}
	}
	if seen < 40 {
		t.Errorf("only %d commands were looked at", seen)
	}
}

func TestFaultsOfCommandsAreSeen(t *testing.T) {
	tree := func() *cobra.Command {
		root := &cobra.Command{Use: "rollcall"}
		list := &cobra.Command{Use: "list CODE", Args: cobra.ExactArgs(1), Run: func(*cobra.Command, []string) {}}
		list.Flags().Int("limit", 1, "most codes")
		list.Flags().String("why", "", "the reason")
		if err := list.MarkFlagRequired("why"); err != nil {
			t.Fatal(err)
		}
		root.AddCommand(list)
		return root
	}
	for example, want := range map[string][]string{
		`  rollcall list c1 --why "a b"`:             nil,
		`  A=1 rollcall list c1 --why x | less # so`: nil,
		``:                                {"it has no example"},
		`  ls`:                            {`example "ls": it does not call rollcall`},
		`rollcall list c1 --why x`:        {`example "rollcall list c1 --why x": it is not indented by two columns`},
		`  rollcall lsit`:                 {`example "rollcall lsit": no command lsit`},
		`  rollcall list --why x`:         {`example "rollcall list --why x": accepts 1 arg(s), received 0`},
		`  rollcall list c1`:              {`example "rollcall list c1": required flag(s) "why" not set`},
		`  rollcall list c1 --why x --no`: {`example "rollcall list c1 --why x --no": unknown flag: --no`},
		`  rollcall list c1 --why x --limit many`: {
			`example "rollcall list c1 --why x --limit many": invalid argument "many" for "--limit" flag: strconv.ParseInt: parsing "many": invalid syntax`,
		},
	} {
		cmd := &cobra.Command{Use: "list", Short: "List codes", Long: "Lists codes.", Example: example}
		if diff := cmp.Diff(want, faultsOf(cmd, tree)); diff != "" {
			t.Errorf("%q: %s", example, diff)
		}
	}
	if got := faultsOf(&cobra.Command{Example: "  rollcall list c1 --why x"}, tree); len(got) != 2 {
		t.Errorf("a command without texts: %q", got)
	}
}

func withSubcommands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		all = append(all, withSubcommands(sub)...)
	}
	return all
}

// faultsOf says what is missing in a command's help; tree makes the commands that
// its examples are tried on.
func faultsOf(cmd *cobra.Command, tree func() *cobra.Command) []string {
	var faults []string
	for what, text := range map[string]string{"short": cmd.Short, "long": cmd.Long} {
		if text == "" {
			faults = append(faults, "it has no "+what+" text")
		}
	}
	if cmd.Example == "" {
		return append(faults, "it has no example")
	}
	for line := range strings.SplitSeq(cmd.Example, "\n") {
		if fault := faultOfExample(line, tree()); fault != "" {
			faults = append(faults, fmt.Sprintf("example %q: %s", strings.TrimSpace(line), fault))
		}
	}
	return faults
}

var (
	// called is rollcall and its arguments in a line for a shell.
	called = regexp.MustCompile(`^  (?:[A-Z_]+=\S+ |source <\()?rollcall ?((?:[^"|>)#]|"[^"]*")*)`)
	word   = regexp.MustCompile(`"[^"]*"|\S+`)
)

// faultOfExample says why a command line would not be taken.
func faultOfExample(line string, root *cobra.Command) string {
	if !strings.HasPrefix(line, "  ") {
		return "it is not indented by two columns"
	}
	found := called.FindStringSubmatch(line)
	if found == nil {
		return "it does not call rollcall"
	}
	var args []string
	for _, w := range word.FindAllString(found[1], -1) {
		args = append(args, strings.Trim(w, `"`))
	}
	cmd, rest, err := root.Find(args)
	if err != nil || !cmd.HasParent() {
		return "no command " + strings.Join(args, " ")
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err.Error()
	}
	for _, check := range []func() error{
		func() error { return cmd.ValidateArgs(cmd.Flags().Args()) }, cmd.ValidateRequiredFlags, cmd.ValidateFlagGroups,
	} {
		if err := check(); err != nil {
			return err.Error()
		}
	}
	return ""
}
