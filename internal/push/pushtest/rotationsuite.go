package pushtest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// RotationBench is a keeper of rotation sets under test.
type RotationBench struct {
	Rotation push.Rotation
	// Read returns the set of a code and whether there is one.
	Read func(t *testing.T, ref push.Ref) (push.Set, bool)
}

// TestRotation is the contract of push.Rotation. Every subtest gets an empty
// one from the factory, which cleans up after itself.
func TestRotation(t *testing.T, factory func(t *testing.T) RotationBench) {
	tests := map[string]func(t *testing.T, b RotationBench){
		"has version 0 without a set":                    rotationNone,
		"keeps what is written":                          rotationReplace,
		"has a new version after a write of the same":    rotationSame,
		"refuses a write from a version that is over":    rotationStale,
		"has one winner a version":                       rotationRace,
		"may hold nobody":                                rotationEmpty,
		"is gone after a delete":                         rotationDelete,
		"keeps the tenants apart":                        rotationTenants,
		"shares no memory with what it was written from": rotationNoAliasing,
		"cannot be asked when the context has ended":     rotationCancelled,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, factory(t))
		})
	}
}

func seats(round int64, staff ...string) push.Set {
	set := push.Set{Round: round}
	for i, s := range staff {
		set.Seats = append(set.Seats, roster.Seat{Staff: s, Headroom: 10 - i, Counted: i})
	}
	return set
}

func rotationNone(t *testing.T, b RotationBench) {
	b.wantVersion(t, acme, 0)
	if set, ok := b.Read(t, acme); ok {
		t.Errorf("there is a set: %+v", set)
	}
}

func rotationReplace(t *testing.T, b RotationBench) {
	first := seats(3, "li.na", "wang", "zhang.san@corp")
	first.Seats[1].Headroom = -1 // no ceiling
	version := b.replace(t, acme, 0, first)
	b.wantVersion(t, acme, version)
	b.wantSet(t, acme, first)
	second := seats(4, "wang")
	b.wantVersion(t, acme, b.replace(t, acme, version, second))
	b.wantSet(t, acme, second)
}

func rotationSame(t *testing.T, b RotationBench) {
	first := b.replace(t, acme, 0, seats(0, "li.na"))
	second := b.replace(t, acme, first, seats(0, "li.na"))
	if first <= 0 || second <= first {
		t.Errorf("versions %d and %d: each write has to raise the version", first, second)
	}
}

func rotationStale(t *testing.T, b RotationBench) {
	first := b.replace(t, acme, 0, seats(0, "li.na"))
	second := b.replace(t, acme, first, seats(0, "wang"))
	for _, seen := range []int64{0, first, second + 1} {
		_, ok, err := b.Rotation.Replace(t.Context(), acme, seen, seats(0, "zhao"))
		if ok || err != nil {
			t.Errorf("Replace from version %d at %d = %v, %v; want false", seen, second, ok, err)
		}
	}
	b.wantVersion(t, acme, second)
	b.wantSet(t, acme, seats(0, "wang"))
}

func rotationRace(t *testing.T, b RotationBench) {
	const racers = 32
	for range 4 {
		seen, err := b.Rotation.Version(t.Context(), acme)
		if err != nil {
			t.Fatalf("Version: %v", err)
		}
		winners := suitetest.Race(t, racers, func(int) (bool, error) {
			_, ok, err := b.Rotation.Replace(t.Context(), acme, seen, seats(0, "li.na"))
			return ok, err
		})
		if len(winners) != 1 {
			t.Errorf("%d of %d racers replaced version %d, want 1", len(winners), racers, seen)
		}
	}
}

// rotationEmpty: a set without seats is a set; its version goes on.
func rotationEmpty(t *testing.T, b RotationBench) {
	first := b.replace(t, acme, 0, seats(0, "li.na"))
	second := b.replace(t, acme, first, push.Set{Round: 1})
	b.wantVersion(t, acme, second)
	if set, _ := b.Read(t, acme); len(set.Seats) != 0 {
		t.Errorf("seats are left: %+v", set)
	}
	b.replace(t, acme, second, seats(1, "wang"))
	b.wantSet(t, acme, seats(1, "wang"))
}

func rotationDelete(t *testing.T, b RotationBench) {
	version := b.replace(t, acme, 0, seats(0, "li.na"))
	for range 2 { // the second finds nothing, which is no error
		if err := b.Rotation.Delete(t.Context(), acme); err != nil {
			t.Fatalf("Delete: %v", err)
		}
	}
	b.wantVersion(t, acme, 0)
	if set, ok := b.Read(t, acme); ok {
		t.Errorf("there is a set after the delete: %+v", set)
	}
	if _, ok, err := b.Rotation.Replace(t.Context(), acme, version, seats(0, "wang")); ok || err != nil {
		t.Errorf("Replace from before the delete = %v, %v; want false", ok, err)
	}
	b.replace(t, acme, 0, seats(0, "wang"))
	b.wantSet(t, acme, seats(0, "wang"))
}

func rotationTenants(t *testing.T, b RotationBench) {
	stranger := push.Ref{Tenant: "globex", Code: acme.Code}
	b.replace(t, acme, 0, seats(0, "li.na"))
	b.wantVersion(t, stranger, 0)
	b.replace(t, stranger, 0, seats(0, "wang"))
	if err := b.Rotation.Delete(t.Context(), stranger); err != nil {
		t.Fatalf("Delete: %v", err)
	}
	b.wantSet(t, acme, seats(0, "li.na"))
}

func rotationNoAliasing(t *testing.T, b RotationBench) {
	set := seats(0, "li.na", "wang")
	b.replace(t, acme, 0, set)
	set.Seats[0].Staff = "changed"
	b.wantSet(t, acme, seats(0, "li.na", "wang"))
}

func rotationCancelled(t *testing.T, b RotationBench) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Rotation.Version(ctx, acme); !errors.Is(err, context.Canceled) {
		t.Errorf("Version = %v, want context.Canceled", err)
	}
	if _, ok, err := b.Rotation.Replace(ctx, acme, 0, seats(0, "li.na")); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("Replace = %v, %v; want context.Canceled", ok, err)
	}
	if err := b.Rotation.Delete(ctx, acme); !errors.Is(err, context.Canceled) {
		t.Errorf("Delete = %v, want context.Canceled", err)
	}
}

func (b RotationBench) replace(t *testing.T, ref push.Ref, seen int64, set push.Set) int64 {
	t.Helper()
	version, ok, err := b.Rotation.Replace(t.Context(), ref, seen, set)
	if !ok || err != nil {
		t.Fatalf("Replace from version %d = %v, %v; want true", seen, ok, err)
	}
	return version
}

func (b RotationBench) wantVersion(t *testing.T, ref push.Ref, want int64) {
	t.Helper()
	if got, err := b.Rotation.Version(t.Context(), ref); got != want || err != nil {
		t.Errorf("Version = %d, %v; want %d", got, err, want)
	}
}

func (b RotationBench) wantSet(t *testing.T, ref push.Ref, want push.Set) {
	t.Helper()
	got, ok := b.Read(t, ref)
	if !ok {
		t.Fatal("there is no set")
	}
	if diff := cmp.Diff(want, got, equal); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
}
