package notifytest_test

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/notify/notifytest"
)

func TestMemoryConforms(t *testing.T) {
	notifytest.TestStore(t, func(*testing.T) notifytest.Store { return notifytest.NewMemory() })
}
