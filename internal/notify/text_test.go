package notify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/notify"
)

var at = time.Date(2026, 3, 2, 12, 0, 0, 0, shanghai)

// A notice, and how it reads in a line and in a group.
func TestHowNoticesRead(t *testing.T) {
	for _, tc := range []struct {
		notice         notify.Notice
		text, markdown string
	}{
		{
			notify.Notice{Kind: notify.CeilingReachedDay, Code: "c1", Staff: "ann", Day: "20260302", Count: 20, Limit: 20, At: at},
			"A staff member has reached the day's ceiling of a code: staff ann, code c1, additions 20 of 20, day 20260302, at 2026-03-02 04:00:00 UTC",
			"**Rollcall: A staff member has reached the day's ceiling of a code**\n> staff: ann\n> code: c1\n> additions: 20 of 20\n> day: 20260302\n> at: 2026-03-02 04:00:00 UTC",
		},
		{
			notify.Notice{Kind: notify.StaffResigned, Staff: "ann\n<@all> **x**", At: at},
			"A staff member has resigned and leaves all codes: staff ann <@all> **x**, at 2026-03-02 04:00:00 UTC",
			"**Rollcall: A staff member has resigned and leaves all codes**\n> staff: ann '@all' ''x''\n> at: 2026-03-02 04:00:00 UTC",
		},
	} {
		if diff := cmp.Diff(tc.text, tc.notice.Text()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(tc.markdown, tc.notice.Markdown()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestEveryKindReadsDifferently(t *testing.T) {
	seen := map[string]notify.Kind{}
	for _, kind := range notify.Kinds() {
		long := strings.Repeat("长", 170)
		n := notify.Notice{Kind: kind, Code: long, Staff: long, Day: "20260302", Count: 1, Limit: 1, At: at}
		title, _, _ := strings.Cut(n.Markdown(), "\n")
		if other, twice := seen[title]; twice || len(title) < 20 {
			t.Errorf("%s reads %q, as %s does", kind, title, other)
		}
		seen[title] = kind
		if size := len(n.Markdown()); size > 2000 {
			t.Errorf("%s takes %d bytes", kind, size)
		}
	}
}
