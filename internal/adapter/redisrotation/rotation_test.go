package redisrotation

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Each line of a script is one step: "set" replaces the set by seats
// name[:headroom[:counted]] (no headroom: unlimited), "round" begins the next
// round with the seats, "wait" lets time pass, "draw" says whom the draws give.
func TestDrawing(t *testing.T) {
	tests := map[string]string{
		"in order, round and round": `
			set a b c
			draw a b c a b c a`,
		"who is out of headroom is passed over": `
			set a b:1 c
			draw a b c a c a`,
		"nobody with headroom": `
			set a:1 b:2
			draw a b b - -`,
		"nobody at all": `
			set
			draw -`,
		"a seat without headroom": `
			set a:0 b
			draw b b`,
		"a refresh of the same members keeps the turn": `
			set a b c
			draw a
			set a b c
			draw b
			set a b c
			draw c a`,
		"who leaves takes nobody's turn with him": `
			set a b c d
			draw a b
			set a c d
			draw c d a c`,
		"who is new takes his place in the lap that runs": `
			set b d
			draw b
			set a b c d
			draw a c d a b`,
		"a new order draws nobody twice in the lap": `
			set a b c
			draw a b
			set c b a
			draw c c b a`,
		"who leaves and comes back has had his turn": `
			set a b c
			draw a
			set b c
			draw b
			set a b c
			draw c a b`,
		"laps that a member missed are not made up for": `
			set a:1:0 b
			draw a b b b b
			set a:1:1 b
			draw a b b`,
		"a later round begins at the front": `
			set a b c
			draw a b
			round a b c
			draw a b c a`,
		"outstanding draws survive a refresh that has not counted them": `
			set a:2:0 b:9:0
			draw a b a b
			set a:2:0 b:9:0
			draw b b`,
		"a draw is outstanding until it is counted": `
			set a:3:0 b
			draw a b a
			set a:2:1 b
			draw b a b b`,
		"an outstanding draw outlives the member's absence": `
			set a:1:0 b
			draw a
			set b
			set a:1:0 b
			draw b b`,
		"a count that went back neither frees nor takes": `
			set a:4:5 b
			draw a b a
			set a:4:3 b
			draw b a b a b b`,
		"scans that never became customers are forgotten": `
			set a:1:0 b
			draw a b
			wait 59s
			set a:1:0 b
			draw b
			wait 1s
			set a:1:0 b
			draw a b`,
		"not while the member is drawn": `
			set a:2:0
			draw a
			wait 59s
			draw a
			wait 59s
			set a:2:0
			draw -`,
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			for line := range strings.Lines(script) {
				if fields := strings.Fields(line); len(fields) > 0 {
					h.step(fields[0], fields[1:])
				}
			}
		})
	}
}

func TestDrawSaysWhere(t *testing.T) {
	h := newHarness(t)
	h.step("set", []string{"a", "b"})
	h.step("round", []string{"a", "b"})
	var got []draw.Turn
	for range 3 {
		d, err := h.rotation.Draw(t.Context(), h.ref, "")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d)
	}
	want := []draw.Turn{
		{Staff: "a", Round: 1, Lap: 1}, {Staff: "b", Round: 1, Lap: 1, Position: 1}, {Staff: "a", Round: 1, Lap: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("draws (-want +got):\n%s", diff)
	}
}

func TestNoSet(t *testing.T) {
	h := newHarness(t)
	if _, err := h.rotation.Draw(t.Context(), h.ref, ""); !errors.Is(err, draw.ErrNoSet) {
		t.Errorf("Draw: %v, want %v", err, draw.ErrNoSet)
	}
	if v, err := h.rotation.Version(t.Context(), h.ref); v != 0 || err != nil {
		t.Errorf("Version: %d, %v, want 0", v, err)
	}
	h.step("set", []string{"a"})
	other := push.Ref{Tenant: "other", Code: h.ref.Code}
	if _, err := h.rotation.Draw(t.Context(), other, ""); !errors.Is(err, draw.ErrNoSet) {
		t.Errorf("another tenant's code of the same name: %v, want %v", err, draw.ErrNoSet)
	}
	if err := h.rotation.Delete(t.Context(), h.ref); err != nil {
		t.Fatal(err)
	}
	if _, err := h.rotation.Draw(t.Context(), h.ref, ""); !errors.Is(err, draw.ErrNoSet) {
		t.Errorf("Draw after Delete: %v, want %v", err, draw.ErrNoSet)
	}
	if keys := h.server.Keys(); len(keys) != 0 {
		t.Errorf("Delete left %v", keys)
	}
}

func TestReplaceIsCompareAndSet(t *testing.T) {
	h := newHarness(t)
	set := push.Set{Seats: []roster.Seat{{Staff: "a", Headroom: -1}}}
	v1 := h.replace(0, set, true)
	if got := h.replace(0, set, false); got != v1 {
		t.Errorf("a lost write returned version %d, want %d, the one that is", got, v1)
	}
	v2 := h.replace(v1, set, true) // the same members
	if v2 <= v1 {
		t.Errorf("version %d after %d, want a greater one", v2, v1)
	}
	h.replace(v1, set, false)
	if err := h.rotation.Delete(t.Context(), h.ref); err != nil {
		t.Fatal(err)
	}
	h.replace(v2, set, false)
	h.now = h.now.Add(time.Microsecond * 2)
	if v3 := h.replace(0, set, true); v3 <= v2 {
		t.Errorf("version %d after a deletion, want more than %d", v3, v2)
	}
}

func TestReplaceRefusesWhatItCannotKeep(t *testing.T) {
	h := newHarness(t)
	tests := map[string][]roster.Seat{
		"twice":     {{Staff: "a"}, {Staff: "b"}, {Staff: "a"}},
		"no name":   {{Staff: ""}},
		"too large": make([]roster.Seat, MaxSeats+1),
	}
	for name, seats := range tests {
		if _, _, err := h.rotation.Replace(t.Context(), h.ref, 0, push.Set{Seats: seats}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRedisGoneIsAnError(t *testing.T) {
	h := newHarness(t)
	h.server.SetError("gone")
	_, err1 := h.rotation.Version(t.Context(), h.ref)
	_, _, err2 := h.rotation.Replace(t.Context(), h.ref, 0, push.Set{})
	_, err3 := h.rotation.Draw(t.Context(), h.ref, "")
	err4 := h.rotation.Delete(t.Context(), h.ref)
	_, err5 := h.rotation.Trail(t.Context(), h.ref)
	for i, err := range []error{err1, err2, err3, err4, err5} {
		if err == nil || errors.Is(err, draw.ErrNoSet) || !strings.Contains(err.Error(), h.ref.Code) {
			t.Errorf("call %d: %v, want an error that names the code", i+1, err)
		}
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []Options{{Prefix: "a{"}, {DrawGrace: -1}, {RepeatWithin: time.Microsecond}} {
		if _, err := New(nil, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// harness plays scripts on an in-process Redis under a clock of its own.
type harness struct {
	t        testing.TB
	server   *miniredis.Miniredis
	rotation *Rotation
	ref      push.Ref
	now      time.Time
	version  int64
	round    int64
}

func newHarness(t testing.TB) *harness {
	t.Helper()
	h := &harness{
		t: t, server: miniredis.RunT(t), ref: push.Ref{Tenant: "corp", Code: "code"},
		now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
	}
	client := redis.NewClient(&redis.Options{Addr: h.server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	r, err := New(client, Options{Clock: func() time.Time { return h.now }})
	if err != nil {
		t.Fatal(err)
	}
	h.rotation = r
	return h
}

func (h *harness) step(verb string, args []string) {
	h.t.Helper()
	switch verb {
	case "round":
		h.round++
		fallthrough
	case "set":
		h.version = h.replace(h.version, push.Set{Round: h.round, Seats: seats(h.t, args)}, true)
	case "wait":
		d, err := time.ParseDuration(args[0])
		if err != nil {
			h.t.Fatal(err)
		}
		h.now = h.now.Add(d)
	case "draw":
		var got []string
		for range args {
			got = append(got, h.draw())
		}
		if diff := cmp.Diff(args, got); diff != "" {
			h.t.Fatalf("draws (-want +got):\n%s", diff)
		}
	default:
		h.t.Fatalf("unknown step %q", verb)
	}
}

// draw returns who was drawn, "-" for nobody.
func (h *harness) draw() string {
	h.t.Helper()
	d, err := h.rotation.Draw(h.t.Context(), h.ref, "")
	if errors.Is(err, draw.ErrExhausted) {
		return "-"
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return d.Staff
}

func (h *harness) replace(seen int64, set push.Set, want bool) int64 {
	h.t.Helper()
	v, ok, err := h.rotation.Replace(h.t.Context(), h.ref, seen, set)
	if err != nil {
		h.t.Fatal(err)
	}
	if ok != want {
		h.t.Fatalf("replace of version %d: %v, want %v", seen, ok, want)
	}
	return v
}

func seats(t testing.TB, args []string) []roster.Seat {
	t.Helper()
	var out []roster.Seat
	for _, arg := range args {
		s := roster.Seat{Headroom: -1}
		name, rest, limited := strings.Cut(arg, ":")
		s.Staff = name
		if limited {
			if _, err := fmt.Sscanf(strings.ReplaceAll(rest+":0", ":", " "), "%d %d", &s.Headroom, &s.Counted); err != nil {
				t.Fatalf("seat %q: %v", arg, err)
			}
		}
		out = append(out, s)
	}
	return out
}
