package pushtest_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
)

func TestStoreConforms(t *testing.T) {
	now := time.Date(2026, 11, 30, 2, 0, 0, 123_456_789, time.UTC)
	pushtest.TestStore(t, func(*testing.T) pushtest.StoreBench {
		s := pushtest.NewStore()
		return pushtest.StoreBench{
			Store:         s,
			PutTenant:     s.PutTenant,
			PutStaff:      s.PutStaff,
			PutCode:       s.PutCode,
			CountAddition: s.CountAddition,
			Now:           func() time.Time { return now },
		}
	})
}

func TestDirtyConforms(t *testing.T) {
	pushtest.TestDirty(t, func(_ *testing.T, clock *pushtest.Clock) pushtest.DirtySet {
		return pushtest.NewDirty(clock)
	})
}

func TestChangesConform(t *testing.T) {
	pushtest.TestChanges(t, func(*testing.T) pushtest.ChangesBench {
		s := pushtest.NewStore()
		return pushtest.ChangesBench{
			Store: s, Changes: s.Changes(),
			Next: func(_ *testing.T, ref push.Ref) time.Time { return s.Record(ref).NextChange },
		}
	})
}

func TestRotationConforms(t *testing.T) {
	pushtest.TestRotation(t, func(*testing.T) pushtest.RotationBench {
		r := pushtest.NewRotation()
		return pushtest.RotationBench{
			Rotation: r,
			Read:     func(_ *testing.T, ref push.Ref) (push.Set, bool) { return r.Set(ref) },
		}
	})
}
