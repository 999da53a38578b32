package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
)

// What a person types, and what he gets: exit code, a part of the screen, and
// the whole complaint.
func TestCommandLines(t *testing.T) {
	for _, tc := range []struct {
		line   string
		code   int
		screen string
		errors string
	}{
		{"", exitOK, "Usage:\n  rollcall [command]", ""},
		{"--help", exitOK, `"rollcall help env" explains them`, ""},
		{"version", exitOK, "rollcall " + readBuild().String(), ""},
		{"--version", exitOK, "rollcall " + readBuild().String(), ""},
		{"help version", exitOK, "Prints the version, the commit", ""},
		{"help", exitOK, "Usage:\n  rollcall [command]", ""},
		{"help env", exitOK, "ROLLCALL_REFRESHER_MAX_HOLD", ""},
		{"help env --markdown", exitOK, "# Configuration", ""},
		{"help metrics", exitOK, "rollcall_refresh_freshness_seconds", ""},
		{"help metrics --markdown", exitOK, "# Metrics", ""},

		{"vresion", exitUsage, "", "rollcall: unknown command \"vresion\" for \"rollcall\"\n\nDid you mean this?\n\tversion\n"},
		{"xyz", exitUsage, "", "rollcall: unknown command \"xyz\" for \"rollcall\"\n"},
		{"version extra", exitUsage, "", "rollcall: unknown command \"extra\" for \"rollcall version\"\n"},
		{"explain", exitUsage, "", "rollcall: accepts 1 arg(s), received 0; usage: rollcall explain CODE [flags]\n"},
		{"version --hlep", exitUsage, "", "rollcall: unknown flag \"--hlep\" for \"rollcall version\"; did you mean \"--help\"?\n"},
		{"version --shade", exitUsage, "", "rollcall: unknown flag \"--shade\" for \"rollcall version\"; see \"rollcall version --help\"\n"},
		{"version -x", exitUsage, "", "rollcall: unknown flag \"-x\" for \"rollcall version\"; see \"rollcall version --help\"\n"},
		{"help env --markdown=maybe", exitUsage, "", "rollcall: invalid argument \"maybe\" for \"--markdown\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax; see \"rollcall help env --help\"\n"},
		{"help man explain", exitOK, ".SH SYNOPSIS\n.B rollcall explain", ""},
		{"help man nothing", exitUsage, "", "rollcall: unknown command \"nothing\" for \"rollcall\"; see \"rollcall --help\"\n"},
		{"completion bash", exitOK, "__start_rollcall", ""},
		{"completion tcsh", exitUsage, "", "rollcall: unknown shell \"tcsh\" for \"rollcall completion\"; see \"rollcall completion --help\"\n"},
		{"help evn", exitUsage, "", "rollcall: unknown help topic \"evn\" for \"rollcall help\"; did you mean \"env\"?\n"},
		{"help version now", exitUsage, "", "rollcall: unknown help topic \"now\" for \"rollcall help\"; see \"rollcall help --help\"\n"},
	} {
		t.Run("rollcall "+tc.line, func(t *testing.T) {
			var out, complaint strings.Builder
			code := run(t.Context(), strings.Fields(tc.line), &out, &complaint)
			if code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if !strings.Contains(out.String(), tc.screen) {
				t.Errorf("the screen lacks %q:\n%s", tc.screen, out.String())
			}
			if diff := cmp.Diff(tc.errors, complaint.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Commands that are not there yet: what root does for each of them.
func TestExitCodes(t *testing.T) {
	mistakes := &config.Mistakes{List: []config.Mistake{{Name: "ROLLCALL_X", Problem: "is wrong"}}}
	for _, tc := range []struct {
		name string
		line string
		err  error
		want int
	}{
		{"success", "work", nil, exitOK},
		{"a failure of the command", "work", errors.New("broken"), exitFailure},
		{"a configuration mistake, wrapped", "work", fmt.Errorf("starting: %w", mistakes), exitUsage},
		{"a missing flag", "need", nil, exitUsage},
		{"a group alone shows its help", "group", nil, exitOK},
		{"a group with an unknown subcommand", "group lsit", nil, exitUsage},
		{"a command within a group fails", "group list", errors.New("broken"), exitFailure},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out, complaint strings.Builder
			code := execute(t.Context(), treeFor(tc.err), strings.Fields(tc.line), &out, &complaint)
			if code != tc.want {
				t.Errorf("exit code %d, want %d; %s", code, tc.want, complaint.String())
			}
			if tc.line == "group lsit" && !strings.Contains(complaint.String(), `did you mean "list"?`) {
				t.Errorf("no suggestion in %q", complaint.String())
			}
		})
	}
}

// An error is reported once and whole, and no usage is thrown after it.
func TestTheComplaintIsTheError(t *testing.T) {
	var out, complaint strings.Builder
	execute(t.Context(), treeFor(errors.New("connecting to the broker: refused")), []string{"work"}, &out, &complaint)
	if diff := cmp.Diff("rollcall: connecting to the broker: refused\n", complaint.String()); diff != "" || out.Len() > 0 {
		t.Error(diff, out.String())
	}
}

func TestEveryCommandIsInAGroup(t *testing.T) {
	for _, cmd := range commands() {
		if cmd.GroupID != groupRoles && cmd.GroupID != groupOperator {
			t.Errorf("%s has group %q", cmd.Name(), cmd.GroupID)
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: %q should be a phrase without a full stop", cmd.Name(), cmd.Short)
		}
	}
}

// treeFor is a root with one command of every shape, each ending with err.
func treeFor(err error) *cobra.Command {
	end := func(*cobra.Command, []string) error { return err }
	need := &cobra.Command{Use: "need", RunE: end}
	need.Flags().String("tenant", "", "")
	if err := need.MarkFlagRequired("tenant"); err != nil {
		return nil
	}
	group := &cobra.Command{Use: "group"}
	group.AddCommand(&cobra.Command{Use: "list", RunE: end})
	root := &cobra.Command{Use: "rollcall", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(&cobra.Command{Use: "work", RunE: end}, need, group)
	return root
}
