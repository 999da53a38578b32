package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestEstimatesHaveAnIntervalEach(t *testing.T) {
	all := estimatesOf(map[string]spot.Tally{
		"beta": {Checked: 20, Skipped: 5},
		"acme": {Checked: 263, Differ: 81, Unsettled: 2},
		"idle": {Skipped: 9},
	}, 7)
	var out strings.Builder
	if err := printEstimates(&out, all); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "30.80 %", "25.53 % and 36.62 %", "0.00 % and 16.11 %", "not known", "0.00 % and 100.00 %", "overall", "28.62 %", "7 days")
	if strings.Index(out.String(), "acme") > strings.Index(out.String(), "beta") {
		t.Error("tenants are not in order")
	}
	out.Reset()
	if err := printEstimates(&out, estimatesOf(nil, 3)); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "looked at no code in 3 days")
}

func TestEstimatesAsJSON(t *testing.T) {
	var out strings.Builder
	if err := printJSON(&out, estimatesOf(map[string]spot.Tally{"acme": {Checked: 100, Differ: 3, Skipped: 1}}, 7)); err != nil {
		t.Fatal(err)
	}
	var got estimates
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Days != 7 || len(got.Tenants) != 1 || got.Tenants[0].Tenant != "acme" || got.Overall.Rate != 0.03 || got.Overall.High < 0.08 {
		t.Errorf("%+v from:\n%s", got, out.String())
	}
}

func foundDifferences() []spot.Difference {
	return []spot.Difference{
		{
			Ref: push.Ref{Tenant: "acme", Code: "fair"}, Cause: reason.ForeignEdit, State: spot.Open,
			Ours: spot.Way{Users: []string{"li.na", "wang"}}, Theirs: spot.Way{Users: []string{"boss"}, Departments: []int64{4}},
			SinceAtLeast: listedAt.Add(-time.Hour), SeenAt: listedAt, LastSeen: listedAt.Add(-time.Minute), Times: 2,
		},
		{
			Ref: push.Ref{Tenant: "acme", Code: "shop"}, Cause: reason.AttributesDiffer, State: spot.Repaired,
			Ours: spot.Way{Remark: "shop"}, Theirs: spot.Way{Remark: "mine"}, LastSeen: listedAt,
		},
		{Ref: push.Ref{Tenant: "beta", Code: "gone"}, Cause: reason.Gone, State: spot.Repairing, LastSeen: listedAt},
	}
}

func TestDifferencesSayWhoWhatAndSinceWhen(t *testing.T) {
	var out strings.Builder
	if err := printDifferences(&out, seq(nil, foundDifferences()...), 10, listedAt); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "foreign_edit", "not Rollcall", "li.na, wang", "1 departments; boss", "1h0m0s ago", "1m0s ago",
		`remark "shop"`, `remark "mine"`, "no such contact way", "not known", "3 listed")
	out.Reset()
	if err := printDifferences(&out, seq(nil, foundDifferences()...), 2, listedAt); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "2 listed, and there are more")
	out.Reset()
	if err := printDifferences(&out, seq[spot.Difference](nil), 2, listedAt); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "There are no such differences.")
	broken := errors.New("connection reset")
	if err := printDifferences(&out, seq(broken, foundDifferences()...), 10, listedAt); !errors.Is(err, broken) {
		t.Errorf("printDifferences() = %v; want the cause", err)
	}
}

func TestDifferencesAsJSON(t *testing.T) {
	var out strings.Builder
	if err := printDifferencesJSON(&out, seq(nil, foundDifferences()...), 2); err != nil {
		t.Fatal(err)
	}
	var answer shownDifferences
	if err := json.Unmarshal([]byte(out.String()), &answer); err != nil {
		t.Fatal(err)
	}
	got := answer.Differences
	if !answer.More || len(got) != 2 || got[0].Who != "not Rollcall" || !got[0].SinceAtLeast.Equal(listedAt.Add(-time.Hour)) || got[1].SinceAtLeast != nil {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(&shownWay{Users: []string{"boss"}, Departments: []int64{4}}, got[0].Theirs); diff != "" {
		t.Errorf("theirs (-want +got):\n%s", diff)
	}
	if gone := shownDifferenceOf(foundDifferences()[2]); gone.Theirs != nil {
		t.Errorf("theirs of a contact way that is gone: %+v", gone.Theirs)
	}
}

func TestSpotFlagsAreChecked(t *testing.T) {
	for line, complaint := range map[string]string{
		"spot --days 0":                 "--days is 0; want 1 to 366",
		"spot -o jsn":                   `unknown output "jsn" for "rollcall spot"; did you mean "json"?`,
		"spot diferences":               `unknown command "diferences" for "rollcall spot"; did you mean "differences"?`,
		"spot differences --state opne": `unknown state "opne" for "rollcall spot differences"; did you mean "open"?`,
		"spot differences --limit 0":    "--limit is 0; want 1 to 100000",
		"spot differences -o yaml":      `unknown output "yaml" for "rollcall spot differences"`,
	} {
		var out, errs strings.Builder
		if code := run(t.Context(), strings.Fields(line), &out, &errs); code == exitOK || !strings.Contains(errs.String(), complaint) {
			t.Errorf("%s: exit %d, %s\nwant %s", line, code, errs.String(), complaint)
		}
	}
}
