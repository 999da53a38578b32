package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func delivery(state notify.State) notify.Delivery {
	return notify.Delivery{
		ID: "9f86d081884c7d659a2feaa0c55ad015", Via: notify.ViaWebhook, FiledAt: listedAt.Add(-time.Hour),
		Notice:   notify.Notice{Key: "at_daily_limit/ann/20260302", Tenant: "acme", Kind: notify.CeilingReachedDay, Staff: "ann", At: listedAt},
		Progress: notify.Progress{State: state, Attempt: 4, Tries: 3, At: listedAt.Add(-90 * time.Second)},
	}
}

func TestDeliveriesListing(t *testing.T) {
	failed, held, pending := delivery(notify.Failed), delivery(notify.Held), delivery(notify.Pending)
	failed.Cause, failed.Detail = reason.Refused, "http 410"
	held.Cause = reason.PoolExhausted
	pending.Due = listedAt.Add(2 * time.Minute)
	var out strings.Builder
	if err := printDeliveries(&out, seq(nil, failed, held, pending), 3, listedAt); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "acme", failed.ID, "webhook", "at_daily_limit", "1m30s ago", "refused", "http 410",
		"pool_exhausted", "with the next pool", "in 2m0s", "3 listed")
	out.Reset()
	if err := printDeliveries(&out, seq(nil, failed, held, pending), 2, listedAt); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "2 listed, and there are more")
	if strings.Contains(out.String(), "pending") {
		t.Errorf("more than the limit is listed:\n%s", out.String())
	}
}

func TestDeliveriesListingIsWholeOrAnError(t *testing.T) {
	var out strings.Builder
	broken := errors.New("connection reset")
	if err := printDeliveries(&out, seq(broken, delivery(notify.Held)), 10, listedAt); !errors.Is(err, broken) || out.Len() > 0 {
		t.Errorf("printDeliveries() = %v after %q; want the cause, and nothing printed", err, out.String())
	}
	if err := printDeliveries(&out, seq[notify.Delivery](nil), 10, listedAt); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "There are no such deliveries.")
}

func TestOneDeliveryIsShown(t *testing.T) {
	row := delivery(notify.Sending)
	row.Paid, row.PoolDay, row.Owner, row.Due = true, "20260302", "keeper-1", listedAt
	var out strings.Builder
	if err := printDelivery(&out, row, listedAt); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "A staff member has reached the day's ceiling of a code", "at_daily_limit/ann/20260302",
		"1h0m0s ago", "3 in 4 attempts", "keeper-1", "the pool of 20260302", "sending")
	if strings.Contains(out.String(), "detail") {
		t.Errorf("what does not apply is shown:\n%s", out.String())
	}
}

// Mistakes in the command line are told before anything is connected to.
func TestDeliveriesCommandLine(t *testing.T) {
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"deliveries", "list", "--state", "fialed"}, `did you mean "failed"?`},
		{[]string{"deliveries", "list", "--limit", "0"}, "want 1 to"},
		{[]string{"deliveries", "lst"}, `did you mean "list"?`},
		{[]string{"deliveries", "show", "acme"}, "2 arg"},
		{[]string{"deliveries", "retry"}, "2 arg"},
	} {
		var out, failed strings.Builder
		if code := run(context.Background(), tc.args, &out, &failed); code == exitOK || !strings.Contains(failed.String(), tc.says) {
			t.Errorf("%v: exit %d, %s; want %q", tc.args, code, failed.String(), tc.says)
		}
	}
}
