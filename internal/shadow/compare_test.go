package shadow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

func TestCompare(t *testing.T) {
	why := []roster.Judgement{
		{Staff: "ann", Included: true, Reason: reason.Eligible},
		{Staff: "bob", Reason: reason.AtDailyLimit},
		{Staff: "cho", Reason: reason.Offline},
		{Staff: "dan", Included: true, Reason: reason.BackupInUse, Despite: reason.Offline},
		{Staff: "eve", Reason: reason.Resigned},
	}
	for _, tc := range []struct {
		name         string
		ours, theirs string
		want         string
	}{
		{"the same list", "ann dan", "ann dan", "match"},
		{"in another order, and twice", "ann dan", "dan ann dan", "match"},
		{"somebody at his limit", "ann dan", "ann bob dan", "mismatch bob:lists/at_daily_limit"},
		{"somebody nobody knows", "ann dan", "ann dan zoe", "mismatch zoe:lists/not_a_member"},
		{"lacks a member", "ann dan", "dan", "mismatch ann:lacks/eligible"},
		{"lacks a backup", "ann dan", "ann", "mismatch dan:lacks/backup_in_use"},
		{"both ways, lists first", "ann dan", "eve cho", "mismatch cho:lists/offline eve:lists/resigned ann:lacks/eligible dan:lacks/backup_in_use"},
		{"nobody is left", "", "ann bob", "no_verdict"},
		{"nobody is left, nor there", "", "", "no_verdict"},
		{"nobody there", "ann", "", "mismatch ann:lacks/eligible"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ours := push.Shadow{Members: strings.Fields(tc.ours), Why: why}
			got := shadow.Compare(ours, shadow.Reported{Members: strings.Fields(tc.theirs)})
			words := []string{string(got.Outcome)}
			for _, d := range got.Differences {
				words = append(words, fmt.Sprintf("%s:%s", d.Staff, d.Cause))
			}
			if diff := cmp.Diff(tc.want, strings.Join(words, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever Decide says of a person has its place among the causes, and every
// cause has its words.
func TestCausesAreAClosedSet(t *testing.T) {
	for _, kind := range shadow.Kinds() {
		for _, why := range shadow.Reasons(kind) {
			if cause := (shadow.Cause{Kind: kind, Reason: why}); cause.Text() == cause.String() {
				t.Errorf("%s has no words", cause)
			}
		}
	}
	out := shadow.Reasons(shadow.Lists)
	for _, in := range shadow.Reasons(shadow.Lacks) {
		if slices.Contains(out, in) {
			t.Errorf("%s keeps somebody off a list, and on it", in)
		}
	}
}

func TestCausesOnceEach(t *testing.T) {
	a, b := shadow.Cause{Kind: shadow.Lacks, Reason: reason.Eligible}, shadow.Cause{Kind: shadow.Lists, Reason: reason.Offline}
	got := shadow.Causes([]shadow.Difference{{"ann", a}, {"bob", b}, {"cho", a}})
	if diff := cmp.Diff([]shadow.Cause{b, a}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
