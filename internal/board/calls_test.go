package board_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/board"
)

func taken(calls *board.Calls, limit int) ([]board.TenantMinute, int) {
	minutes, lost := calls.Take(limit)
	slices.SortFunc(minutes, func(a, b board.TenantMinute) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), a.At.Compare(b.At))
	})
	return minutes, lost
}

func TestCallsAreCountedByTenantAndMinute(t *testing.T) {
	calls := board.NewCalls(10)
	calls.Granted(noon.Add(59*time.Second), "acme")
	calls.Granted(noon, "acme")
	calls.Refused(noon, "acme")
	calls.Granted(noon.Add(time.Minute), "acme")
	calls.Refused(noon, "globex")
	got, lost := taken(calls, 10)
	want := []board.TenantMinute{
		{Tenant: "acme", Minute: board.Minute{At: noon, Granted: 2, Refused: 1}},
		{Tenant: "acme", Minute: board.Minute{At: noon.Add(time.Minute), Granted: 1}},
		{Tenant: "globex", Minute: board.Minute{At: noon, Refused: 1}},
	}
	if diff := gocmp.Diff(want, got); diff != "" || lost != 0 {
		t.Error(diff, lost)
	}
	if again, _ := taken(calls, 10); len(again) != 0 {
		t.Errorf("taken twice: %v", again)
	}
}

func TestAsksWithoutRoomAreLostAndCounted(t *testing.T) {
	calls := board.NewCalls(2)
	for _, tenant := range []string{"a", "b", "c", "c", "a"} {
		calls.Granted(noon, tenant)
	}
	got, lost := taken(calls, 1)
	if len(got) != 1 || lost != 2 {
		t.Errorf("%v, %d lost; want one of two, and both of c lost", got, lost)
	}
	rest, lost := taken(calls, 9)
	if len(rest) != 1 || rest[0].Tenant == got[0].Tenant || lost != 0 {
		t.Errorf("what is left: %v, %d lost", rest, lost)
	}
}
