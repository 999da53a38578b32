//go:build integration

package mongostore_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/notify/notifytest"
)

func TestDeliveriesConform(t *testing.T) {
	notifytest.TestStore(t, func(t *testing.T) notifytest.Store { return newWorld(t, time.Now).Deliveries() })
}
