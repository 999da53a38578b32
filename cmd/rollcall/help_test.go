package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// The pages under docs/ are what the commands print.
func TestDocsAreCurrent(t *testing.T) {
	for file, printed := range map[string]string{
		"../../docs/configuration.md": envMarkdown(config.Reference()),
		"../../docs/metrics.md":       metricsMarkdown(metrics.Catalog()),
	} {
		kept, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(printed, string(kept)); diff != "" {
			t.Errorf("%s differs from what the code says; run `go generate ./cmd/rollcall`:\n%s", file, diff)
		}
	}
}

// The pages under man/ are what the commands print, and there are no others.
func TestManualIsCurrent(t *testing.T) {
	pages := manual(newRootCommand())
	kept, err := filepath.Glob("../../man/rollcall*.1")
	if err != nil || len(kept) != len(pages) {
		t.Errorf("%d pages are kept under man/, and there are %d; run `make man` (%v)", len(kept), len(pages), err)
	}
	for name, page := range pages {
		text, err := os.ReadFile("../../man/" + name)
		if err != nil {
			t.Errorf("run `make man`: %v", err)
			continue
		}
		if diff := cmp.Diff(page, string(text)); diff != "" {
			t.Errorf("man/%s differs from what the code says; run `make man`:\n%s", name, diff)
		}
	}
}

// Nothing of a text is a macro or an escape, and what has no page is removed.
func TestManualPages(t *testing.T) {
	odd := &cobra.Command{Use: "odd FILE", Short: `A \fB in a --short`, Long: ".TH is no macro\nhere.\n\n  as it\n  stands", Run: func(*cobra.Command, []string) {}}
	odd.Flags().Int("limit", 5, "most `codes` to list")
	root := &cobra.Command{Use: "rollcall", Short: "all"}
	root.AddCommand(odd)
	page := manPage(odd)
	wantLines(t, page, `rollcall\-odd \- A \efB in a \-\-short`, "\n\\&.TH is no macro\nhere.\n", ".nf\n  as it\n  stands\n.fi\n", `.B \-\-limit codes`, "most codes to list (default 5)", ".BR rollcall (1)")

	folder := t.TempDir()
	for _, name := range []string{"rollcall-gone.1", "other.1"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeManual(root, folder); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if diff := cmp.Diff([]string{"other.1", "rollcall-odd.1", "rollcall.1"}, left); diff != "" {
		t.Error(diff)
	}
}

func TestScreensFitTheirWidth(t *testing.T) {
	for name, screen := range map[string]string{
		"help env":     envScreen(config.Reference()),
		"help metrics": metricsScreen(metrics.Catalog()),
	} {
		for line := range strings.SplitSeq(screen, "\n") {
			if columns(line) > screenWidth {
				t.Errorf("%s: %d columns: %s", name, columns(line), line)
			}
			if strings.Contains(line, "\x1b") {
				t.Errorf("%s: an escape sequence, which a pipe would keep: %q", name, line)
			}
		}
	}
}

func TestEnvScreenOfOneSection(t *testing.T) {
	got := envScreen([]config.Section{{
		Concern: "Lane", About: "Which codes go first.",
		Variables: []config.Variable{
			{Name: "ROLLCALL_A", Type: "integer", Default: "64", Accepted: "1 to 2048", What: "Codes worked on at once."},
			{Name: "ROLLCALL_B", Type: "secret URL", Accepted: "redis://", Required: true, What: "Where Redis is."},
			{Name: "ROLLCALL_C", Type: "text", Accepted: "any", What: "A name."},
		},
	}})
	want := strings.Join([]string{
		"LANE: Which codes go first.",
		" Variable                            │ Default               │ Accepted               │ What it is                      ",
		"─────────────────────────────────────┼───────────────────────┼────────────────────────┼─────────────────────────────────",
		" ROLLCALL_A                          │ 64                    │ integer: 1 to 2048     │ Codes worked on at once.        ",
		"─────────────────────────────────────┼───────────────────────┼────────────────────────┼─────────────────────────────────",
		" ROLLCALL_B                          │ required              │ secret URL: redis://   │ Where Redis is.                 ",
		"─────────────────────────────────────┼───────────────────────┼────────────────────────┼─────────────────────────────────",
		" ROLLCALL_C                          │ not set               │ text: any              │ A name.                         ",
		"",
	}, "\n")
	_, got, _ = strings.Cut(got, "\n\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMetricsScreenOfOneInstrument(t *testing.T) {
	got := metricsScreen([]metrics.Instrument{{
		Name: "rollcall.x", Prometheus: "rollcall_x_total", Kind: metrics.Counter, Unit: "{x}",
		Labels: []metrics.Label{{Key: "cause", Values: []string{"one", "two"}}},
		What:   "What it counts.", Action: strings.Repeat("Look at it. ", 12),
	}})
	want := `rollcall.x
  rollcall_x_total: counter, unit {x}, at most 2 series
  What it counts.
  cause: one, two
  → Look at it. Look at it. Look at it. Look at it. Look at it. Look at it. Look at it. Look at it. Look at it. Look at
    it. Look at it. Look at it.
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWrapWords(t *testing.T) {
	for _, tc := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""},
		{"one", 5, "one"},
		{"one two three", 7, "one two|three"},
		{"  spaces   are  one ", 10, "spaces are|one"},
		{"persistent://public/default/topic", 15, "persistent://|public/default/|topic"},
		{"at https://qyapi.weixin.qq.com now", 20, "at https://|qyapi.weixin.qq.com|now"},
		{"unbreakable", 5, "unbreakable"},
		{"→ äöü", 5, "→ äöü"},
	} {
		if diff := cmp.Diff(strings.ReplaceAll(tc.want, "|", "\n"), wrapWords(tc.text, tc.width)); diff != "" {
			t.Errorf("%q at %d: %s", tc.text, tc.width, diff)
		}
	}
}
