package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

func readiness() shadow.Readiness {
	offline := shadow.Cause{Kind: shadow.Lists, Reason: reason.Offline}
	differences := make([]shadow.Difference, 8)
	for i := range differences {
		differences[i] = shadow.Difference{Staff: fmt.Sprintf("staff-%d", i), Cause: offline}
	}
	return shadow.Readiness{
		Tenant: "acme", At: listedAt, TimeZone: "Asia/Shanghai", Verdict: "Not ready, for 2 reasons.",
		Because: []string{"The lists of 21 codes differ now.", "7 whole days without a difference are needed, and there are 3."},
		Codes:   shadow.Codes{Total: 1300, InShadow: 1200, Live: 100, WithVerdict: 1200, Reported: 1195, Compared: 1190, Matching: 1169, Mismatching: 21, Waiting: 5, Settling: 7},
		Causes:  []shadow.CauseCount{{Cause: offline, Codes: 21}},
		Examples: []shadow.Example{{
			Code: "poster-7", Ours: []string{"ann"}, Theirs: []string{"ann", "staff-0"}, Source: shadow.Spot,
			Since: listedAt.Add(-90 * time.Minute), Differences: differences,
		}},
		NeverReported: []string{"quiet-1", "quiet-2"},
		Today:         shadow.Day{Day: "20260302", Compared: 12, Matched: 9, Mismatched: 3, Causes: []shadow.CauseCount{{Cause: offline, Codes: 3}}},
		Days:          []shadow.Day{{Day: "20260301", Clean: true, Compared: 400, Matched: 400}},
		DaysClean:     3, DaysNeeded: 7,
	}
}

func TestTheReportSaysTheAnswerFirst(t *testing.T) {
	var out strings.Builder
	if err := printReadiness(&out, readiness()); err != nil {
		t.Fatal(err)
	}
	begin := "Not ready, for 2 reasons.\n  - The lists of 21 codes differ now.\n  - 7 whole days"
	if !strings.HasPrefix(out.String(), begin) {
		t.Errorf("it begins otherwise:\n%s", out.String())
	}
	wantLines(t, out.String(), "1169", "lists/offline", "lists somebody who is off line", "poster-7", "1h30m0s", "spot",
		"staff-4", "and 3 more", "of 21", "3 clean in a row", "20260301", "lists/offline 3", "quiet-1, quiet-2", "(2 of 5)", "Asia/Shanghai")
	if strings.Contains(out.String(), "staff-5") || strings.Contains(out.String(), "nobody is left") {
		t.Errorf("it shows what it should not:\n%s", out.String())
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(line)); n > 130 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}

// A tenant that is ready reads short.
func TestTheReportOfATenantThatIsReady(t *testing.T) {
	r := readiness()
	r.Ready, r.Verdict, r.Because, r.NeverReported = true, "Ready: 3 codes in shadow mode.", nil, nil
	r.Codes = shadow.Codes{Total: 3, InShadow: 3, WithVerdict: 3, Reported: 3, Compared: 3, Matching: 3}
	var out strings.Builder
	if err := printReadiness(&out, r); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "Ready: 3 codes in shadow mode.\n\nCodes\n") {
		t.Errorf("it begins otherwise:\n%s", out.String())
	}
	for _, part := range []string{"differ now", "poster-7", "no list of the other system"} {
		if strings.Contains(out.String(), part) {
			t.Errorf("%q is shown:\n%s", part, out.String())
		}
	}
}

func TestTheReportAsJSONIsWhole(t *testing.T) {
	var out strings.Builder
	if err := printJSON(&out, readiness()); err != nil {
		t.Fatal(err)
	}
	var got shadow.Readiness
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(readiness(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantLines(t, out.String(), `"ready": false`, `"kind": "lists"`, `"reason": "offline"`)
}

// Mistakes in the command line are told before anything is connected to.
func TestMigrateReportCommandLine(t *testing.T) {
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"acme", "-o", "jsno"}, `did you mean "json"?`},
		{nil, "1 arg"},
	} {
		cmd := newMigrateReportCommand()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(tc.args)
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%v: %v; want %q", tc.args, err, tc.says)
		}
	}
}
