package push_test

import (
	"context"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Ports that lie, each about one step around the rotation set. The other steps
// are taken out by the simulation's mutants (test/sim/mutants).

func noMutant(p push.Ports) push.Ports { return p }

// setAny writes the set over any version.
type setAny struct{ push.Rotation }

func (r setAny) Replace(ctx context.Context, ref push.Ref, _ int64, set push.Set) (int64, bool, error) {
	for {
		seen, err := r.Version(ctx, ref)
		if err != nil {
			return 0, false, err
		}
		if version, ok, err := r.Rotation.Replace(ctx, ref, seen, set); ok || err != nil {
			return version, ok, err
		}
	}
}

// noSetCheck answers the last look at the version with what was written.
type noSetCheck struct {
	push.Rotation
	written int64
}

func (r *noSetCheck) Replace(ctx context.Context, ref push.Ref, seen int64, set push.Set) (int64, bool, error) {
	version, ok, err := r.Rotation.Replace(ctx, ref, seen, set)
	r.written = version
	return version, ok, err
}

func (r *noSetCheck) Version(ctx context.Context, ref push.Ref) (int64, error) {
	if r.written > 0 {
		version := r.written
		r.written = 0
		return version, nil
	}
	return r.Rotation.Version(ctx, ref)
}

// lateVersion reads the version only once the facts are read.
type lateVersion struct {
	push.Rotation
	late int64
}

func (r *lateVersion) Replace(ctx context.Context, ref push.Ref, _ int64, set push.Set) (int64, bool, error) {
	return r.Rotation.Replace(ctx, ref, r.late, set)
}

type lateStore struct {
	push.Store
	rotation *lateVersion
}

func (s lateStore) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	facts, record, err := s.Store.Load(ctx, ref)
	if err != nil {
		return facts, record, err
	}
	s.rotation.late, err = s.rotation.Version(ctx, ref)
	return facts, record, err
}
