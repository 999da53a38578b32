package leasetest_test

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/backstop/lease"
	"github.com/rollcall-dev/rollcall/internal/backstop/lease/leasetest"
)

func TestMemoryConforms(t *testing.T) {
	leasetest.TestStore(t, func(*testing.T) lease.Store { return leasetest.NewMemory() })
}
