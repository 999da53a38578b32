package decisiontest_test

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/decision/decisiontest"
)

func TestBookConforms(t *testing.T) {
	decisiontest.TestBook(t, func(*testing.T) decisiontest.Listed { return decisiontest.NewBook() })
}
