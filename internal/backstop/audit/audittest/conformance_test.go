package audittest

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
)

func TestMemoryPassesKeepTheContract(t *testing.T) {
	TestPasses(t, func(*testing.T) audit.Passes { return &Passes{} })
}
