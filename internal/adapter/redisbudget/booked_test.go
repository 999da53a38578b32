package redisbudget

import (
	"testing"

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
