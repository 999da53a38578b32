package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
)

func TestFanOutsTellHowFarTheyAre(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	jobs := []fanout.Job{
		{
			Ticket: fanout.Ticket{ID: "acme/zhang.san", Epoch: 3}, Why: "removed_today", State: fanout.InProgress,
			Requested: now.Add(-12 * time.Second), Started: now.Add(-10 * time.Second), Total: 1000, Released: 400,
		},
		{Ticket: fanout.Ticket{ID: "acme", Epoch: 1}, Why: "tenant_changed", State: fanout.Pending, Requested: now},
		{Ticket: fanout.Ticket{ID: "other", Epoch: 1}, Why: "tenant_changed", State: fanout.Done, Requested: now},
	}
	var out bytes.Buffer
	if err := printFanOuts(&out, underWay(seq(nil, jobs...)), now); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"400 of 1000", "40.0", "15s", "not known yet", "2 fan-outs", "12s ago"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "other") {
		t.Errorf("a fan-out that is done is shown:\n%s", out.String())
	}
	out.Reset()
	if err := printFanOuts(&out, seq[fanout.Job](nil), now); err != nil || out.String() != "No fan-out is under way.\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
