package registrytest

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
)

func TestMemoryConforms(t *testing.T) {
	TestFacts(t, func(_ *testing.T, now func() time.Time) registry.Facts { return NewMemory(now) })
}

func TestAnswersInMemoryConform(t *testing.T) {
	TestAnswers(t, func(*testing.T) registry.Answers { return NewAnswers() })
}
