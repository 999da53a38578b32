package redisbudget

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
)

func TestBookedSlotsAreSeen(t *testing.T) {
	client, _ := miniClient(t)
	opts := tight().fixed(newTestClock())
	b := newBudget(t, client, opts)
	drain(t, b)
	ask(t, b, "corp", "x", addition)
	slots, err := NewSlots(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	got, err := slots.Booked(t.Context(), []push.Ref{{Tenant: "corp", Code: "y"}, {Tenant: "corp", Code: "x"}, {Tenant: "other", Code: "x"}})
	if diff := cmp.Diff([]bool{false, true, false}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// The slot that is booked and the block that lasts are told, each with its
// instant.
func TestWhatStandsInTheWayOfACall(t *testing.T) {
	client, server := miniClient(t)
	clock := newTestClock()
	opts := tight().fixed(clock)
	b := newBudget(t, client, opts)
	drain(t, b)
	booked := ask(t, b, "corp", "x", addition)
	slots, err := NewSlots(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	blocked, slot, err := slots.Standing(t.Context(), push.Ref{Tenant: "corp", Code: "x"})
	if err != nil || !blocked.IsZero() || !slot.Equal(booked.At.Truncate(time.Microsecond)) {
		t.Errorf("blocked until %v, slot %v, want %v; %v", blocked, slot, booked.At, err)
	}
	until, err := b.Throttled(t.Context(), "corp", ErrCodeFrequency)
	if err != nil {
		t.Fatal(err)
	}
	blocked, slot, err = slots.Standing(t.Context(), push.Ref{Tenant: "corp", Code: "y"})
	if err != nil || !blocked.Equal(until.Truncate(time.Microsecond)) || !slot.IsZero() {
		t.Errorf("blocked until %v, want %v; slot %v; %v", blocked, until, slot, err)
	}
	if blocked, slot, err = slots.Standing(t.Context(), push.Ref{Tenant: "other", Code: "x"}); err != nil || !blocked.IsZero() || !slot.IsZero() {
		t.Errorf("another tenant: %v, %v, %v", blocked, slot, err)
	}
	server.SetError("gone")
	if _, _, err = slots.Standing(t.Context(), push.Ref{Tenant: "corp", Code: "x"}); err == nil {
		t.Error("no error without Redis")
	}
}

func TestUntilWhenTenantsAreBlocked(t *testing.T) {
	client, server := miniClient(t)
	opts := tight().fixed(newTestClock())
	b := newBudget(t, client, opts)
	ask(t, b, "calm", "x", addition)
	until, err := b.Throttled(t.Context(), "corp", ErrCodeFrequency)
	if err != nil {
		t.Fatal(err)
	}
	slots, err := NewSlots(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	got, err := slots.BlockedUntil(t.Context(), []string{"unheard of", "corp", "calm"})
	if diff := cmp.Diff([]time.Time{{}, until.Truncate(time.Microsecond), {}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := slots.BlockedUntil(t.Context(), nil); len(got) != 0 || err != nil {
		t.Errorf("nobody: %v, %v", got, err)
	}
	server.SetError("gone")
	if _, err = slots.BlockedUntil(t.Context(), []string{"corp"}); err == nil {
		t.Error("no error without Redis")
	}
}
