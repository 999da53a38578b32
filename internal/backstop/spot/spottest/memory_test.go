package spottest_test

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot/spottest"
)

func TestMemoryConforms(t *testing.T) {
	spottest.TestStore(t, func(*testing.T) spottest.Store { return spottest.NewMemory() })
}
