package service

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
)

func TestSeamsStandAroundEveryPort(t *testing.T) {
	var wired []string
	seams := []Seams{{
		Subscription: noted[intake.Subscription](&wired, "subscription"),
		Store:        noted[push.Store](&wired, "store"),
		Rotation:     noted[push.Rotation](&wired, "rotation"),
		Budget:       noted[push.Budget](&wired, "budget"),
		Vendor:       noted[push.Vendor](&wired, "vendor"),
		Dirty:        noted[push.Dirty](&wired, "dirty"),
	}}
	decoratedPush(push.Ports{}, seams)
	decoratedIntake(intake.Ports{}, seams)
	want := []string{"store", "rotation", "budget", "vendor", "subscription", "dirty"}
	if diff := cmp.Diff(want, wired); diff != "" {
		t.Errorf("decorated ports (-want +got):\n%s", diff)
	}
}

func TestWithoutSeamsThePortsAreTheOnesGiven(t *testing.T) {
	given := &countingDirty{}
	for name, seams := range map[string][]Seams{"none": nil, "an empty one": {{}}} {
		if got := decoratedIntake(intake.Ports{Dirty: given}, seams).Dirty; got != push.Dirty(given) {
			t.Errorf("%s: another dirty set was wired: %T", name, got)
		}
	}
}

func TestTheLastSeamIsOutermost(t *testing.T) {
	var calls []string
	around := func(name string) Seams {
		return Seams{Dirty: func(inner push.Dirty) push.Dirty { return namedDirty{inner, name, &calls} }}
	}
	ports := decoratedIntake(intake.Ports{Dirty: &countingDirty{}}, []Seams{around("inner"), around("outer")})
	if err := ports.Dirty.Mark(t.Context(), push.Mark{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"outer", "inner"}, calls); diff != "" {
		t.Errorf("order of the calls (-want +got):\n%s", diff)
	}
}

// noted leaves a port as it is and writes down that it was offered.
func noted[T any](wired *[]string, name string) func(T) T {
	return func(port T) T {
		*wired = append(*wired, name)
		return port
	}
}

type countingDirty struct{ marks int }

func (d *countingDirty) Mark(context.Context, ...push.Mark) error { d.marks++; return nil }

type namedDirty struct {
	push.Dirty
	name  string
	calls *[]string
}

func (d namedDirty) Mark(ctx context.Context, marks ...push.Mark) error {
	*d.calls = append(*d.calls, d.name)
	return d.Dirty.Mark(ctx, marks...)
}
