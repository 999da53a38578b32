package redisrotation

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/draw"
)

// Everybody is at the ceiling: one draw passes over many, and what it leaves,
// the next ones do.
func TestPassingOver(t *testing.T) {
	f := newFirm(t)
	for i := range maxPassed + 2 {
		one := []string{"B", fmt.Sprintf("m%02d:-1:0:0/1", i)}
		f.step("set", one)
		f.step("draw", []string{"B", fmt.Sprintf("m%02d", i)})
	}
	var all []string
	for i := range maxPassed + 2 {
		all = append(all, fmt.Sprintf("m%02d:-1:0:0/1", i))
	}
	f.step("set", append(append([]string{"A"}, all...), "wang:-1:0"))
	f.step("draw", []string{"A", "-"})
	f.step("draw", []string{"A", "wang", "wang"})
}

// A refused turn is in no trail, and whom the customer was given instead is the
// answer to his key.
func TestARefusedTurnLeavesNoTrace(t *testing.T) {
	f := newFirm(t)
	f.step("set", []string{"A", "li:-1:0:0/1", "wang:-1:0"})
	f.step("set", []string{"B", "li:-1:0:0/1"})
	f.step("draw", []string{"B", "li"})
	f.ref = f.code("A")
	if got := f.takes("k1", "k1", "k2", "k1"); got != "wang wang* wang wang*" {
		t.Errorf("draws: %s", got)
	}
	var past []string
	for _, p := range f.trail() {
		past = append(past, p.Staff)
	}
	if diff := cmp.Diff([]string{"wang", "wang"}, past); diff != "" {
		t.Errorf("trail (-want +got):\n%s", diff)
	}
	f.step("set", []string{"A", "li:-1:0:0/1"})
	if got := f.takes("k3"); got != "-" {
		t.Errorf("nobody free: %s", got)
	}
	f.step("set", []string{"A", "ann:-1:0"})
	if got := f.takes("k3"); got != "ann" {
		t.Errorf("the key of who found nobody: %s", got)
	}
}

// An answer that was never paid for, and cannot be any more, is not given.
func TestAnAnswerThatTheTotalRefuses(t *testing.T) {
	f := newFirm(t)
	f.step("set", []string{"A", "li:1:0:0/1", "wang:-1:0"})
	f.step("set", []string{"B", "li:-1:0:0/1"})
	f.ref = f.code("A")
	if got, err := f.rotation.next(t.Context(), f.rotation.keysOf(f.ref), "k1"); got.turn.Staff != "li" || err != nil {
		t.Errorf("an attempt that dies before it has asked the ledger: %+v, %v", got, err)
	}
	f.step("draw", []string{"B", "li"})
	f.ref = f.code("A")
	if got := f.takes("k1", "k1"); got != "wang wang*" {
		t.Errorf("its repeats: %s", got)
	}
	f.step("set", []string{"A", "li:1:0:0/9", "wang:-1:0"})
	if got := f.takes("", "", ""); got != "li wang wang" {
		t.Errorf("his headroom is his again, once: %s", got)
	}
}

// The set was replaced since the answer that the total refuses was given: he is
// set aside at the place that he has now.
func TestAnOldAnswerThatTheTotalRefuses(t *testing.T) {
	f := newFirm(t)
	f.step("set", []string{"A", "ann:-1:0", "li:-1:0:0/1"})
	f.step("set", []string{"B", "li:-1:0:0/1"})
	f.step("draw", []string{"A", "ann"})
	if _, err := f.rotation.next(t.Context(), f.rotation.keysOf(f.ref), "k1"); err != nil {
		t.Fatal(err)
	}
	f.step("draw", []string{"B", "li"})
	f.step("set", []string{"A", "li:-1:0:0/1", "ann:-1:0"})
	if got := f.takes("k1"); got != "ann" {
		t.Errorf("instead of him: %s", got)
	}
	f.step("wait", []string{"60s"})
	turn, err := f.rotation.Draw(t.Context(), f.ref, "")
	if want := (draw.Turn{Staff: "li", Lap: 2}); turn != want || err != nil {
		t.Errorf("later: %+v, %v, want %+v", turn, err, want)
	}
}

// Two attempts at one request are refused at the same time: one of them takes
// the turn back.
func TestATurnIsPutBackOnce(t *testing.T) {
	f := newFirm(t)
	f.step("set", []string{"A", "li:3:0:0/9"})
	f.ref = f.code("A")
	k := f.rotation.keysOf(f.ref)
	f.takes("k0")
	refused, err := f.rotation.next(t.Context(), k, "k1")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.rotation.putBack(t.Context(), k, refused, "k1"); err != nil {
			t.Fatal(err)
		}
	}
	f.step("set", []string{"A", "li:3:0:0/9"})
	if got := f.takes("", "", ""); got != "li li -" {
		t.Errorf("two of his headroom are left: %s", got)
	}
}

// The set is replaced between a draw and its refusal.
func TestATurnThatIsPutBackIntoAnotherSet(t *testing.T) {
	f := newFirm(t)
	f.step("set", []string{"A", "ann:-1:0", "li:1:0:0/9"})
	f.step("draw", []string{"A", "ann"})
	k := f.rotation.keysOf(f.code("A"))
	refuse := func(then ...string) {
		t.Helper()
		refused, err := f.rotation.next(t.Context(), k, "")
		if err != nil || refused.turn.Staff != "li" {
			t.Fatalf("drew %+v, %v", refused, err)
		}
		f.step("set", append([]string{"A"}, then...))
		if err := f.rotation.putBack(t.Context(), k, refused, ""); err != nil {
			t.Fatal(err)
		}
	}
	refuse("li:2:0:0/9", "ann:-1:0") // still with all of his headroom, at the place that he has now
	f.step("draw", []string{"A", "li", "ann"})
	refuse("li:1:2:0/9", "ann:-1:0") // this very turn was counted too
	f.step("draw", []string{"A", "ann", "li", "ann", "ann"})
	f.step("set", []string{"A", "ann:-1:0", "li:9:2:0/9"})
	refuse("ann:-1:0") // not any more
	f.step("wait", []string{"2s"})
	f.step("draw", []string{"A", "ann", "ann"})
}
