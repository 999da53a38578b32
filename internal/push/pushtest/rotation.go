package pushtest

import (
	"context"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Rotation is push.Rotation in memory. Draws and the cursor are not part of
// the port and not of the fake.
type Rotation struct {
	Hooks

	mu       sync.Mutex
	last     int64 // the highest version given out; a version is never used twice
	versions map[push.Ref]int64
	sets     map[push.Ref]push.Set
}

var _ push.Rotation = (*Rotation)(nil)

// NewRotation returns a Rotation without sets.
func NewRotation() *Rotation {
	return &Rotation{versions: map[push.Ref]int64{}, sets: map[push.Ref]push.Set{}}
}

// Version returns the version of the set.
func (r *Rotation) Version(ctx context.Context, ref push.Ref) (int64, error) {
	var version int64
	err := r.do(ctx, OpRotationVersion, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		version = r.versions[ref]
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// Replace writes the set if its version is still seen.
func (r *Rotation) Replace(ctx context.Context, ref push.Ref, seen int64, set push.Set) (int64, bool, error) {
	var version int64
	won := false
	err := r.do(ctx, OpRotationReplace, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		version = r.versions[ref]
		if version != seen {
			return
		}
		r.last++
		version, won = r.last, true
		r.versions[ref], r.sets[ref] = version, cloneSet(set)
	})
	if err != nil {
		return 0, false, err
	}
	return version, won, nil
}

// Delete removes the set.
func (r *Rotation) Delete(ctx context.Context, ref push.Ref) error {
	return r.do(ctx, OpRotationDelete, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.versions, ref)
		delete(r.sets, ref)
	})
}

// Set returns the set of a code and whether there is one, without a hook.
func (r *Rotation) Set(ref push.Ref) (push.Set, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	set, ok := r.sets[ref]
	return cloneSet(set), ok
}
