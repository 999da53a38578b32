//go:build integration

package mongostore_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/backstop/lease"
	"github.com/rollcall-dev/rollcall/internal/backstop/lease/leasetest"
)

func TestLeasesConform(t *testing.T) {
	leasetest.TestStore(t, func(t *testing.T) lease.Store { return newWorld(t, time.Now).Leases() })
}
