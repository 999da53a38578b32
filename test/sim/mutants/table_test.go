package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryMutantFits finds a mutant whose place in the source has changed
// without building any.
func TestEveryMutantFits(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants {
		source, err := os.ReadFile(filepath.Join("..", "..", "..", m.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), m.old); n != 1 {
			t.Errorf("%s: %s holds what it replaces %d times, not once", m.name, m.file, n)
		}
		if m.new == m.old || names[m.name] {
			t.Errorf("%s: changes nothing, or has another's name", m.name)
		}
		names[m.name] = true
	}
	if len(mutants) < 24 {
		t.Errorf("%d mutants; at least 24 are promised", len(mutants))
	}
}

func TestReadOfASimulatorsWords(t *testing.T) {
	for _, c := range []struct {
		text string
		want caught
	}{
		{"12 runs, 3 steps\nseed 7 breaks \"every event ends\": c1\n", caught{12, "every event ends"}},
		{"500 runs, 3 steps\n500 seeds in 1s\n", caught{500, notCaught}},
	} {
		got, err := read(c.text, nil)
		if err != nil || got != c.want {
			t.Errorf("read(%q) = %v, %v; want %v", c.text, got, err, c.want)
		}
	}
	if _, err := read("what?", nil); err == nil {
		t.Error("read takes anything for a result")
	}
}
