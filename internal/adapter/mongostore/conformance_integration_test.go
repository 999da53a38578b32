//go:build integration

package mongostore_test

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
)

func TestStoreConforms(t *testing.T) { pushtest.TestStore(t, storeBench) }

func TestDirtyConforms(t *testing.T) {
	pushtest.TestDirty(t, func(t *testing.T, clock *pushtest.Clock) pushtest.DirtySet {
		return dirtySet{newWorld(t, clock.Now).Dirty()}
	})
}
