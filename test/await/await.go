// Package await waits in tests for what other processes do.
package await

import (
	"testing"
	"time"
)

// Until asks every so often until the answer is yes. No at the limit ends the
// test with what was waited for.
func Until(tb testing.TB, limit, every time.Duration, what string, ok func() bool) {
	tb.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			tb.Fatalf("not within %v: %s", limit, what)
		case <-tick.C:
		}
	}
}
