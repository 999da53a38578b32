package redisrotation

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// take draws with a key; a repeated answer has a star.
func (h *harness) take(key string) string {
	h.t.Helper()
	turn, err := h.rotation.Draw(h.t.Context(), h.ref, key)
	switch {
	case errors.Is(err, draw.ErrExhausted):
		return "-"
	case err != nil:
		h.t.Fatal(err)
	case turn.Repeated:
		return turn.Staff + "*"
	}
	return turn.Staff
}

func (h *harness) takes(keys ...string) string {
	h.t.Helper()
	var got []string
	for _, key := range keys {
		got = append(got, h.take(key))
	}
	return strings.Join(got, " ")
}

func TestAKeyGetsItsAnswerAgain(t *testing.T) {
	h := newHarness(t)
	h.step("set", []string{"a", "b", "c"})
	if got := h.takes("k1", "k1", "k2", "", "k1", "k2"); got != "a a* b c a* b*" {
		t.Errorf("draws: %s", got)
	}
	first, err1 := h.rotation.Draw(t.Context(), h.ref, "k3")
	again, err2 := h.rotation.Draw(t.Context(), h.ref, "k3")
	first.Repeated = true
	if diff := cmp.Diff(first, again); diff != "" || err1 != nil || err2 != nil {
		t.Errorf("the answer again (-first +again):\n%s%v, %v", diff, err1, err2)
	}
}

// A repeat takes no headroom, and is given although the member has none left or
// has left the set since.
func TestARepeatTakesNothing(t *testing.T) {
	h := newHarness(t)
	h.step("set", []string{"a:1"})
	if got := h.takes("k1", "k1", "k2", "k1"); got != "a a* - a*" {
		t.Errorf("draws: %s", got)
	}
	h.step("set", []string{"b"})
	if got := h.takes("k1", "k2"); got != "a* b" {
		t.Errorf("after a refresh: %s", got)
	}
}

// Nothing is known any more of the member whom the answer names.
func TestAnAnswerOutlivesItsMember(t *testing.T) {
	h := newHarness(t)
	h.step("set", []string{"a"})
	h.take("k1")
	h.now = h.now.Add(time.Minute)
	h.step("set", []string{"b"})
	h.takes("", "")
	h.step("set", []string{"b"})
	if got := h.take("k1"); got != "a*" {
		t.Errorf("the answer again: %s", got)
	}
}

func TestAnAnswerIsForgotten(t *testing.T) {
	h := newHarness(t)
	h.step("set", []string{"a", "b"})
	h.take("k1")
	h.server.FastForward(time.Minute - time.Millisecond)
	if got := h.take("k1"); got != "a*" {
		t.Errorf("within the time: %s", got)
	}
	h.server.FastForward(time.Millisecond)
	if got := h.take("k1"); got != "b" {
		t.Errorf("after it: %s", got)
	}
}

// Keys of one code mean nothing to another, and a set that is gone repeats
// nothing.
func TestAnswersBelongToTheCode(t *testing.T) {
	h := newHarness(t)
	h.step("set", []string{"a", "b"})
	h.take("k1")
	other := *h
	other.ref, other.version = push.Ref{Tenant: h.ref.Tenant, Code: "other"}, 0
	other.step("set", []string{"x"})
	if got := other.take("k1"); got != "x" {
		t.Errorf("another code: %s", got)
	}
	if err := h.rotation.Delete(t.Context(), h.ref); err != nil {
		t.Fatal(err)
	}
	if _, err := h.rotation.Draw(t.Context(), h.ref, "k1"); !errors.Is(err, draw.ErrNoSet) {
		t.Errorf("after Delete: %v, want %v", err, draw.ErrNoSet)
	}
}

// WeCom takes any character in a staff ID, a space included.
func TestStaffNamesSurviveTheAnswerAndTheTrail(t *testing.T) {
	h := newHarness(t)
	for _, name := range []string{"li na", "张三", "a  b ", "%s", "9 9 9"} {
		h.step("set", []string{name})
		if got := h.takes(name, name); got != name+" "+name+"*" {
			t.Errorf("draws of %q: %q", name, got)
		}
		if trail := h.trail(); len(trail) == 0 || trail[0].Staff != name {
			t.Errorf("trail of %q: %+v", name, trail)
		}
	}
}

func TestTheTrailHoldsTheLastDraws(t *testing.T) {
	h := newHarness(t)
	if trail := h.trail(); len(trail) != 0 {
		t.Errorf("before the first draw: %+v", trail)
	}
	h.step("set", []string{"a", "b:1"})
	h.takes("k1", "k1", "k1")
	h.now = h.now.Add(1500 * time.Millisecond)
	h.takes("", "")
	at := func(d time.Duration) time.Time { return h.now.Add(d) }
	want := []draw.Past{
		{Turn: draw.Turn{Staff: "a", Lap: 1}, At: at(0)},
		{Turn: draw.Turn{Staff: "b", Position: 1}, At: at(0)},
		{Turn: draw.Turn{Staff: "a"}, At: at(-1500 * time.Millisecond)},
	}
	if diff := cmp.Diff(want, h.trail()); diff != "" {
		t.Errorf("trail (-want +got):\n%s", diff)
	}
	for range 60 {
		h.take("")
	}
	if got := len(h.trail()); got != 50 {
		t.Errorf("%d draws are remembered, want 50", got)
	}
}

func TestWithoutATrail(t *testing.T) {
	h := newHarness(t)
	h.rotation.trail = 0
	h.step("set", []string{"a"})
	h.takes("", "k")
	if trail := h.trail(); len(trail) != 0 {
		t.Errorf("trail: %+v", trail)
	}
}

func TestATrailThatIsNotOurs(t *testing.T) {
	for _, line := range []string{"", "1 2 3", "a 2 3 4 b", "1 2 3 4"} {
		if _, err := parsePast(line); !errors.Is(err, errReply) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestRepliesThatAreNotOurs(t *testing.T) {
	for _, res := range [][]any{
		nil,
		{"0"},
		{int64(7)},
		{int64(0)},
		{int64(0), "a", int64(1), int64(2), int64(3)},
		{int64(0), int64(1), int64(1), int64(1), int64(1), int64(1), "", int64(1)},
		{int64(3), "a", nil, int64(1), int64(1), int64(1), "", int64(1)},
		{int64(0), "a", int64(1), int64(1), int64(1), nil, "", int64(1)},
		{int64(0), "a", int64(1), int64(1), int64(1), int64(1), "9 1", int64(1)},
		{int64(0), "a", int64(1), int64(1), int64(1), int64(1), nil, int64(1)},
		{int64(0), "a", int64(1), int64(1), int64(1), int64(1), "", ""},
	} {
		if got, err := parseDrawn(res); !errors.Is(err, errReply) {
			t.Errorf("%v: %+v, %v", res, got, err)
		}
	}
}

func (h *harness) trail() []draw.Past {
	h.t.Helper()
	trail, err := h.rotation.Trail(h.t.Context(), h.ref)
	if err != nil {
		h.t.Fatal(err)
	}
	return trail
}
