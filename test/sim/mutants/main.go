package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

func main() {
	seeds := flag.Int("seeds", 60_000, "most seeds to play of each mutant")
	only := flag.String("only", "", "a part of the names of the mutants to play")
	flag.Parse()
	os.Exit(status(*seeds, *only))
}

// status is 0 when every mutant is caught.
func status(seeds int, only string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	survivors, err := playAll(ctx, seeds, only)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 2
	case survivors > 0:
		fmt.Fprintf(os.Stderr, "%d mutants were not caught\n", survivors)
		return 1
	}
	return 0
}

// playAll plays the mutants one after the other and returns how many were not
// caught.
func playAll(ctx context.Context, seeds int, only string) (int, error) {
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return 0, fmt.Errorf("make a folder for the mutants: %w", err)
	}
	defer os.RemoveAll(dir)
	out := table.NewWriter()
	out.AppendHeader(table.Row{"mutant", "seeds", "caught by"})
	survivors := 0
	for _, m := range mutants {
		if !strings.Contains(m.name, only) {
			continue
		}
		caught, err := play(ctx, m, dir, seeds)
		if err != nil {
			return 0, fmt.Errorf("mutant %q: %w", m.name, err)
		}
		fmt.Fprintf(os.Stderr, "%-60s %7d  %s\n", m.name, caught.seeds, caught.invariant)
		out.AppendRow(table.Row{m.name, caught.seeds, caught.invariant})
		if caught.invariant == notCaught {
			survivors++
		}
	}
	fmt.Println(out.Render())
	return survivors, nil
}

const notCaught = "NOT CAUGHT"

// caught is how a mutant was found out.
type caught struct {
	seeds     int // played until then
	invariant string
}

func play(ctx context.Context, m mutant, dir string, seeds int) (caught, error) {
	binary, err := build(ctx, m, dir)
	if err != nil {
		return caught{}, err
	}
	run := exec.CommandContext(ctx, binary, "-seeds", strconv.Itoa(seeds), "-faults", "1")
	text, err := run.Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return caught{}, fmt.Errorf("play it: %w", err)
	}
	return read(string(text), failed)
}

var (
	brokenLine = regexp.MustCompile(`(?m)^seed (\d+) breaks "([^"]+)"`)
	runsLine   = regexp.MustCompile(`(?m)^(\d+) runs`)
)

// read takes in what a simulator printed.
func read(text string, failed *exec.ExitError) (caught, error) {
	runs := runsLine.FindStringSubmatch(text)
	broken := brokenLine.FindStringSubmatch(text)
	switch {
	case broken != nil && runs != nil:
		seeds, err := strconv.Atoi(runs[1])
		return caught{seeds, broken[2]}, err
	case runs != nil && failed == nil:
		seeds, err := strconv.Atoi(runs[1])
		return caught{seeds, notCaught}, err
	case failed != nil:
		return caught{}, fmt.Errorf("it does not run: %w\n%s", failed, failed.Stderr)
	}
	return caught{}, fmt.Errorf("the simulator printed %q", text)
}

// build compiles a simulator with the mutant in it.
func build(ctx context.Context, m mutant, dir string) (string, error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", fmt.Errorf("read the source (run it at the top of the repository): %w", err)
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		return "", fmt.Errorf("%s holds what it replaces %d times, not once", m.file, n)
	}
	mutated := filepath.Join(dir, "mutated.go")
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "sim")
	text, err := exec.CommandContext(ctx, "go", "build", "-overlay", list, "-o", binary, "./test/sim/cmd").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build it: %w\n%s", err, text)
	}
	return binary, nil
}
