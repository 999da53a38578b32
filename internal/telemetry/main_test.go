package telemetry

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// The environment may name an endpoint; the tests decide that themselves.
func TestMain(m *testing.M) {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "OTEL_") {
			_ = os.Unsetenv(name)
		}
	}
	goleak.VerifyTestMain(m)
}
