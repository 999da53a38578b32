//go:build integration

package mongostore_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/decision/decisiontest"
)

func TestDecisionsConform(t *testing.T) {
	decisiontest.TestBook(t, func(t *testing.T) decisiontest.Listed { return newWorld(t, time.Now).Decisions() })
}
