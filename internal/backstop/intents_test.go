package backstop_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

const margin = 5 * time.Second

func TestIntentsLeftBehindMakeTheirCodesDirty(t *testing.T) {
	r := newRig(t)
	m, left := r.marker(), &records{intents: map[string]time.Time{
		"old": t0.Add(-24 * time.Hour), "just now": t0.Add(-margin - 1), "in its margin": t0.Add(-margin), "under way": t0.Add(time.Second),
	}}
	m.wantMarked(left, 2)
	want := []pushtest.Entry{
		{Ref: push.Ref{Tenant: "acme", Code: "just now"}}, {Ref: push.Ref{Tenant: "acme", Code: "old"}},
	}
	for i := range want {
		want[i].Reasons, want[i].Count = []reason.Reason{reason.Unsettled}, 1
		want[i].Detail = "a push was announced and its outcome never recorded"
		want[i].Due, want[i].FirstSeen, want[i].LastSeen = t0, t0, t0
	}
	got := r.entries()
	for i := range got {
		got[i].Version = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dirty (-want +got):\n%s", diff)
	}
}

func TestACodeIsMarkedOnceForAnIntent(t *testing.T) {
	r := newRig(t)
	left := &records{intents: map[string]time.Time{}}
	m := r.marker()
	for i := range 8 {
		// The first expires with the first sweep, each other one with the next.
		left.intents[fmt.Sprint(i)] = t0.Add(-margin - 1 + time.Duration(i)*15*time.Second)
		m.wantMarked(left, 1)
		r.clock.Advance(15 * time.Second)
	}
	m.wantMarked(left, 0)
}

func TestAllIntentsAreLookedAtNowAndThen(t *testing.T) {
	r := newRig(t)
	left := &records{intents: map[string]time.Time{"a": t0.Add(-time.Minute)}}
	m := r.marker()
	m.wantMarked(left, 1)
	left.intents["written late"] = t0.Add(-time.Hour)
	r.clock.Advance(9*time.Minute + 59*time.Second)
	m.wantMarked(left, 0)
	r.clock.Advance(time.Second)
	m.wantMarked(left, 2)
	r.clock.Advance(time.Minute)
	m.wantMarked(left, 0)
}

func TestANewKeeperLooksAtAllIntents(t *testing.T) {
	r := newRig(t)
	left := &records{intents: map[string]time.Time{"a": t0.Add(-time.Minute)}}
	r.marker().wantMarked(left, 1)
	r.marker().wantMarked(left, 1)
}

func TestASweepThatFailsIsDoneAgain(t *testing.T) {
	for name, breakIt := range map[string]func(r *rig, left *records){
		"while reading": func(_ *rig, left *records) { left.fail = "c07" },
		"while marking": func(r *rig, _ *records) { r.dirty.Before = func(string) error { return errAway } },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			left := &records{intents: map[string]time.Time{}}
			for i := range 20 {
				left.intents[fmt.Sprintf("c%02d", i)] = t0.Add(-time.Hour)
			}
			m := r.marker()
			breakIt(r, left)
			if n, err := m.of(left).Sweep(t.Context()); !errors.Is(err, errAway) || n > 7 {
				t.Fatalf("Sweep() = %d, %v; want the store's error", n, err)
			}
			r.dirty.Before, left.fail = nil, ""
			m.wantMarked(left, 20)
			if r.left() != 20 {
				t.Errorf("%d codes are dirty, want all", r.left())
			}
		})
	}
}

// marker is a Marker that is made with the first records it is given.
type marker struct {
	*rig
	*backstop.Marker
}

func (r *rig) marker() *marker { return &marker{rig: r} }

func (m *marker) of(left *records) *backstop.Marker {
	if m.Marker == nil {
		m.Marker = backstop.NewMarker(left, m.dirty, backstop.MarkerOptions{
			Margin: margin, WholeEvery: 10 * time.Minute, Parallel: 4, Now: m.clock.Now,
		})
	}
	return m.Marker
}

func (m *marker) wantMarked(left *records, want int) {
	m.Helper()
	if n, err := m.of(left).Sweep(m.Context()); n != want || err != nil {
		m.Errorf("Sweep() = %d, %v; want %d", n, err, want)
	}
}
