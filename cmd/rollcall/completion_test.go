package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the Tab key offers, as the shells ask for it and choose from it: candidates
// that begin with what is typed, and whether files are offered when there are none.
func TestCompletion(t *testing.T) {
	const noFiles, files = ":4", ":0"
	for line, want := range map[string]struct {
		offers []string
		files  string
	}{
		"exp":                           {[]string{"explain"}, noFiles},
		"explain ":                      {nil, noFiles},
		"explain code-1 -o ":            {[]string{"table", "json"}, noFiles},
		"preflight -o ":                 {[]string{"text", "json"}, noFiles},
		"dirty list --reason crede":     {[]string{"credentials"}, noFiles},
		"dirty --reason no":             {[]string{"nobody_left"}, noFiles},
		"dirty retry --all-of-reason b": {[]string{"blocked", "backoff", "breaker_open", "bad_member"}, noFiles},
		"dirty drop code-1 --reason ":   {nil, noFiles},
		"dirty list --tenant ":          {nil, noFiles},
		"token create --scope ":         {[]string{"read", "write", "draw", "admin"}, noFiles},
		"deliveries list --state fa":    {[]string{"failed"}, noFiles},
		"spot differences --state re":   {[]string{"repairing", "repaired"}, noFiles},
		"completion ":                   {[]string{"bash", "zsh", "fish", "powershell"}, noFiles},
		"help exp":                      {[]string{"explain"}, noFiles},
		"help dirty re":                 {[]string{"retry"}, noFiles},
		"help e":                        {[]string{"env", "explain"}, noFiles},
		"demo --report ":                {nil, files},
	} {
		t.Run("rollcall "+line, func(t *testing.T) {
			var out, complaint strings.Builder
			run(t.Context(), append([]string{"__completeNoDesc"}, strings.Split(line, " ")...), &out, &complaint)
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			typed := line[strings.LastIndex(line, " ")+1:]
			var offers []string
			for _, offer := range lines[:len(lines)-1] {
				if strings.HasPrefix(offer, typed) {
					offers = append(offers, offer)
				}
			}
			if diff := cmp.Diff(want.offers, offers); diff != "" || lines[len(lines)-1] != want.files {
				t.Errorf("files %s, want %s\n%s%s", lines[len(lines)-1], want.files, diff, complaint.String())
			}
		})
	}
}

func TestEveryShellHasItsScript(t *testing.T) {
	for _, shell := range shellNames() {
		var out, complaint strings.Builder
		if code := run(t.Context(), []string{"completion", shell}, &out, &complaint); code != exitOK || !strings.Contains(out.String(), "rollcall") {
			t.Errorf("%s: exit code %d, %d bytes, %s", shell, code, out.Len(), complaint.String())
		}
	}
	if len(shells) != len(shellNames()) {
		t.Errorf("%d shells are offered, and %d can be written", len(shellNames()), len(shells))
	}
}
