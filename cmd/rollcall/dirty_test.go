package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func dirtyEntry(code string) mongostore.DirtyEntry {
	return mongostore.DirtyEntry{
		Ref: push.Ref{Tenant: "acme", Code: code}, Reasons: []reason.Reason{reason.Credentials, reason.Overflow},
		Detail: "40001: invalid credential", FirstSeen: listedAt.Add(-time.Hour), LastSeen: listedAt.Add(-time.Minute),
		Due: listedAt.Add(10 * time.Minute), State: push.DirtyRepair, Count: 3, Attempts: 1, Version: "65f0",
	}
}

func TestDirtyListingHasAnEnd(t *testing.T) {
	var out strings.Builder
	all := seq(nil, dirtyEntry("c-1"), dirtyEntry("c-2"), dirtyEntry("c-3"))
	if err := printDirty(&out, all, dirtyListing{limit: 2}, listedAt); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "c-1", "c-2", "2 listed, and there are more: see --limit")
	if strings.Contains(out.String(), "c-3") {
		t.Errorf("more than the limit is listed:\n%s", out.String())
	}
	out.Reset()
	which := mongostore.DirtySelection{Tenant: "globex"}
	if err := printDirty(&out, seq[mongostore.DirtyEntry](nil), dirtyListing{limit: 2, which: which}, listedAt); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "No such code is dirty.")
}

const dirtyAsJSON = `[
  {
    "tenant": "acme",
    "code": "c-1",
    "reasons": [
      "credentials",
      "overflow"
    ],
    "detail": "40001: invalid credential",
    "first_seen": "2026-03-02T03:00:00Z",
    "last_seen": "2026-03-02T03:59:00Z",
    "state": "repair",
    "due": "2026-03-02T04:10:00Z",
    "marks": 3,
    "attempts": 1
  }
]
`

func TestDirtyListingAsJSON(t *testing.T) {
	var out strings.Builder
	o := dirtyListing{limit: 2, output: outputJSON}
	if err := printDirty(&out, seq(nil, dirtyEntry("c-1")), o, listedAt); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(dirtyAsJSON, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	if err := printDirty(&out, seq[mongostore.DirtyEntry](nil), o, listedAt); err != nil || out.String() != "[]\n" {
		t.Errorf("an empty set is %q, %v; want an empty list", out.String(), err)
	}
}

const dirtyShown = `┌────────────┬──────────────────────────────────┐
│            │ ACME/C-1                         │
├────────────┼──────────────────────────────────┤
│ reasons    │ credentials, overflow            │
│ state      │ repair                           │
│ first seen │ 2026-03-02T03:00:00Z, 1h0m0s ago │
│ last seen  │ 2026-03-02T03:59:00Z, 1m0s ago   │
│ due        │ in 10m0s                         │
│ marks      │ 3                                │
│ attempts   │ 1                                │
│ detail     │ 40001: invalid credential        │
└────────────┴──────────────────────────────────┘
`

func TestOneDirtyCodeIsShown(t *testing.T) {
	var out strings.Builder
	if err := printDirtyEntry(&out, dirtyEntry("c-1"), listedAt); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(dirtyShown, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A code whose event the broker has had stays until it agrees with its facts.
func TestAReleasedDirtyCodeIsShown(t *testing.T) {
	e := dirtyEntry("c-1")
	e.State, e.Due, e.Confirm = push.DirtyReleased, time.Time{}, listedAt.Add(time.Minute)
	var out strings.Builder
	if err := errors.Join(printDirty(&out, seq(nil, e), dirtyListing{limit: 2}, listedAt), printDirtyEntry(&out, e, listedAt)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "released, looked at in 1m0s"); n != 2 {
		t.Errorf("%d times it is said that it is released:\n%s", n, out.String())
	}
	text := out.String()
	out.Reset()
	if err := printJSON(&out, dirtyJSON(e)); err != nil || strings.Contains(out.String(), "due") || !strings.Contains(out.String(), "confirm") {
		t.Errorf("as JSON %s, %v; as text %s", out.String(), err, text)
	}
}

func TestWhatIsSaidOfManyRetries(t *testing.T) {
	o := retryOrder{cause: "overflow", tenant: "acme", limit: 3}
	for want, done := range map[string]dirty.Retried{
		"2 codes are due now\n":                                  {Due: 2},
		"1 codes are due now, 1 had changed meanwhile\n":         {Due: 1, Changed: 1},
		"3 codes are due now; there may be more: run it again\n": {Due: 3},
		"No code of acme has the reason overflow.\n":             {},
	} {
		var out strings.Builder
		if err := printRetried(&out, done, o); err != nil || out.String() != want {
			t.Errorf("%+v: %q, %v; want %q", done, out.String(), err, want)
		}
	}
}

func TestDecisionsListing(t *testing.T) {
	done := decision.Decision{
		At: listedAt, By: "ann", Action: decision.DropDirty, Subject: "dirty acme/c-1", Tenant: "acme", Code: "c-1",
		Reason: "printed by mistake", Detail: "credentials: 40001", State: decision.Done,
	}
	failed := done
	failed.Action, failed.State, failed.Failure = decision.RepublishLetter, decision.Failed, "the broker is away"
	var out strings.Builder
	if err := printDecisions(&out, []decision.Decision{done, failed}); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "2026-03-02T04:00:00Z", "ann", "dirty_drop", "dirty acme/c-1", "done", "printed by mistake",
		"credentials: 40001", "letter_republish", "failed", "the broker is away", "2 listed")
	out.Reset()
	if err := printDecisions(&out, nil); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "Nothing has been decided.")
}

// One name that fails keeps no other from its turn, and every failure is told.
func TestEachOfManyHasItsTurn(t *testing.T) {
	first, third := errors.New("first"), errors.New("third")
	var seen []string
	err := each([]string{"a", "b", "c"}, func(name string) error {
		seen = append(seen, name)
		return map[string]error{"a": first, "c": third}[name]
	})
	if !errors.Is(err, first) || !errors.Is(err, third) || len(seen) != 3 {
		t.Errorf("%v after %v", err, seen)
	}
}

func TestWhoDecides(t *testing.T) {
	if by, err := decider("ann"); by != "ann" || err != nil {
		t.Errorf("decider = %q, %v", by, err)
	}
	if by, err := decider(""); by == "" && err == nil {
		t.Error("nobody decides")
	}
}

// Mistakes in the command line are told before anything is connected to.
func TestOperatorsCommandLines(t *testing.T) {
	for line, says := range map[string]string{
		"dirty lst":                            `did you mean "list"?`,
		"dirty list --limit 0":                 "want 1 to",
		"dirty list -o jsn":                    `did you mean "json"?`,
		"dirty --noted --tenant acme":          "none of the others",
		"dirty show":                           "1 arg",
		"dirty show c-1 -o yaml":               "unknown output",
		"dirty retry":                          "which codes?",
		"dirty retry --all-of-reason overflow": "give --tenant",
		"dirty retry c-1 --all-of-reason overflow --tenant t":   "not both",
		"dirty retry c-1 --tenant acme":                         "TENANT/CODE",
		"dirty retry --all-of-reason x --tenant t --limit 1001": "want 1 to 1000",
		"dirty drop":                              "at least 1 arg",
		"dirty drop c-1":                          "--reason TEXT",
		"deadletters lst":                         `did you mean "list"?`,
		"deadletters list --limit 0":              "want 1 to",
		"deadletters show":                        "1 arg",
		"deadletters republish":                   "at least 1 arg",
		"deadletters republish 1:2:0 --why x":     "belongs to --as-code",
		"deadletters republish 1:2:0 --as-code c": "needs --tenant and --why",
		"deadletters republish 1:2:0 --as-code c --key c --tenant t --why x": "neither --key nor --reason",
		"deadletters republish 1:2:0 1:3:0 --as-code c --tenant t --why x":   "for one letter",
		"deadletters discard 1:2:0":                                          "--reason TEXT",
		"decisions --limit 0":                                                "want 1 to",
	} {
		var out, failed strings.Builder
		if code := run(context.Background(), strings.Fields(line), &out, &failed); code == exitOK || !strings.Contains(failed.String(), says) {
			t.Errorf("%s: exit %d, %s; want %q", line, code, failed.String(), says)
		}
	}
}

// The broker's admin API is the only one that knows which letters wait.
func TestDeadLettersNeedTheAdminURL(t *testing.T) {
	t.Setenv("ROLLCALL_PULSAR_URL", "pulsar://127.0.0.1:1")
	t.Setenv("ROLLCALL_PULSAR_ADMIN_URL", "")
	var out, failed strings.Builder
	if code := run(t.Context(), []string{"deadletters"}, &out, &failed); code != exitUsage || !strings.Contains(failed.String(), "ROLLCALL_PULSAR_ADMIN_URL is not set") {
		t.Errorf("exit %d, %s", code, failed.String())
	}
}
