package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// command is `rollcall …` as the runbooks write it: between backticks, or after
// the binary's path on a line of its own.
var command = regexp.MustCompile("(?:`rollcall |(?m:^(?:kubectl exec deploy/[a-z-]+ -- /)?rollcall ))([^`\n]*)")

// Whoever was woken types what the page says: each command and flag in it is
// there.
func TestCommandsOfTheRunbooksExist(t *testing.T) {
	paths, err := filepath.Glob("../../docs/runbooks/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no runbooks (%v)", err)
	}
	seen := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range command.FindAllStringSubmatch(string(text), -1) {
			seen++
			if fault := unknown(strings.Fields(found[1])); fault != "" {
				t.Errorf("%s: rollcall %s: %s", filepath.Base(path), found[1], fault)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d commands were found in the runbooks", seen)
	}
}

func TestUnknownCommandsAreSeen(t *testing.T) {
	for line, want := range map[string]string{
		"dirty list --tenant acme":    "",
		"dirty lost":                  "no command lost",
		"nothing":                     "no command nothing",
		"dirty list --everything yes": "no flag everything",
	} {
		if got := unknown(strings.Fields(line)); got != want {
			t.Errorf("rollcall %s: %q, want %q", line, got, want)
		}
	}
}

// unknown says what of a command line the program does not know.
func unknown(words []string) string {
	cmd, rest, err := newRootCommand().Find(words)
	if err != nil || !cmd.HasParent() {
		return "no command " + strings.Join(words, " ")
	}
	for i, word := range rest {
		if name, is := strings.CutPrefix(word, "--"); is && cmd.Flags().Lookup(name) == nil {
			return "no flag " + name
		}
		if i == 0 && cmd.HasSubCommands() && !strings.HasPrefix(word, "-") {
			return "no command " + word
		}
	}
	return ""
}
