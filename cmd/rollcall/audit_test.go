package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func TestTheAuditTellsHowFarItIs(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	state := service.AuditState{Codes: 10_000, Pass: audit.Pass{
		Number: 3, Begun: now.Add(-10 * time.Second), Stage: audit.OverCodes, Tally: audit.Tally{"looked": 2500, "agrees": 2490, "stale": 3, "waits": 7},
		Last: audit.Summary{Number: 2, Begun: now.Add(-2 * time.Hour), Ended: now.Add(-time.Hour), Tally: audit.Tally{"looked": 36_000, "stale": 5, "set_missing": 1}},
	}}
	if err := printAudit(&out, state, now); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Pass 3 began 10s ago: over codes, 2500 of about 10000 codes, 3 differ; 250 a second, about 30s left.",
		"Pass 2 ended 1h0m0s ago and took 1h0m0s (10 codes a second).", "set_missing", "36000",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := printAudit(&out, service.AuditState{}, now); err != nil || !strings.HasPrefix(out.String(), "No pass has begun yet") {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestAnEstimateShowsBothWays(t *testing.T) {
	var out bytes.Buffer
	scale := audit.Scale{Codes: 6_000_000, Largest: 20_000, TenantRate: 41.7, TotalRate: 166.7, Share: 0.1, WalkRate: 2000, Keepers: 2}
	if err := printEstimate(&out, scale); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 keepers at 2000 codes a second each", "25m0s", "10 % of the budget", "99h58m50s", "6000000 codes, at most 20000 of one tenant"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, out.String())
		}
	}
}

func TestFindingsAreListed(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	found := []mongostore.Found{{
		Ref: push.Ref{Tenant: "acme", Code: "c"}, Kind: reason.StaffMissing, Detail: "the code names zoe", FirstSeen: now.Add(-time.Hour), LastSeen: now,
	}}
	var out bytes.Buffer
	if err := printFindings(&out, found, now); err != nil || !strings.Contains(out.String(), "the code names zoe") || !strings.Contains(out.String(), "1h0m0s ago") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
