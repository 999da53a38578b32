package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/preflight"
)

var preflightResults = []preflight.Result{
	{Name: "pulsar.topic", Finding: preflight.Finding{Verdict: preflight.OK, Found: "4 partitions"}, Did: "made the topic with 4 partitions", Took: 20 * time.Millisecond},
	{Name: "pulsar.ttl", Finding: preflight.Finding{Verdict: preflight.Fail, Found: "1h0m0s: messages older than that are dropped without a trace, held ones too", Remedy: "remove it"}},
	{Name: "redis.reach", Finding: preflight.Finding{Verdict: preflight.Warn, Found: "\x1b[31m", Remedy: "look"}},
	{Name: "redis.clock", Finding: preflight.Finding{Verdict: preflight.Skip, Found: "not looked at"}},
}

func TestPreflightScreen(t *testing.T) {
	var out strings.Builder
	if err := printPreflight(&out, preflightResults); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "pulsar.topic", "FIXED: made the topic with 4", "dropped without", "1 ok, 1 warnings, 1 failed, 1 skipped", "├──")
	for line := range strings.SplitSeq(out.String(), "\n") {
		if columns(line) > screenWidth {
			t.Errorf("%d columns: %s", columns(line), line)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("an escape sequence reaches the terminal")
	}
}

func TestPreflightForPrograms(t *testing.T) {
	got := preflightJSON(preflightResults[:2])
	want := shownPreflight{
		Verdict: preflight.Fail,
		Counts:  map[preflight.Verdict]int{preflight.OK: 1, preflight.Fail: 1},
		Checks: []shownResult{
			{Check: "pulsar.topic", Verdict: preflight.OK, Found: "4 partitions", Did: "made the topic with 4 partitions", TookMS: 20},
			{Check: "pulsar.ttl", Verdict: preflight.Fail, Found: preflightResults[1].Found, Remedy: "remove it"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for verdict, results := range map[preflight.Verdict][]preflight.Result{preflight.OK: preflightResults[:1], preflight.Warn: preflightResults[2:]} {
		if got := preflightJSON(results).Verdict; got != verdict {
			t.Errorf("the whole is %s; want %s", got, verdict)
		}
	}
}

func TestPreflightUsage(t *testing.T) {
	t.Setenv("ROLLCALL_PULSAR_URL", "")
	for line, complaint := range map[string]string{
		"":                     "ROLLCALL_PULSAR_URL is not set",
		"-o jsno":              `did you mean "json"?`,
		"--tenant a/b":         "cannot be a tenant's ID",
		"--partitions 5000":    "want 0 to 1024",
		"--timeout 1ms":        "want 100ms to 5m",
		"--fxi":                `did you mean "--fix"?`,
		"now":                  "unknown command",
		"--partitions several": "invalid argument",
	} {
		var out, errors strings.Builder
		code := run(t.Context(), append([]string{"preflight"}, strings.Fields(line)...), &out, &errors)
		if code != exitUsage || !strings.Contains(errors.String(), complaint) || out.Len() > 0 {
			t.Errorf("preflight %s: exit %d, %q; want %d with %q", line, code, errors.String(), exitUsage, complaint)
		}
	}
}
