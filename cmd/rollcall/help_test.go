package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
