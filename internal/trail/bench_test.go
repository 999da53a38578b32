package trail_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// BenchmarkNoting is what a refresh pays for its trail: a push of a list of ten,
// of which one leaves.
func BenchmarkNoting(b *testing.B) {
	r := trail.NewRecorder(&store{}, trail.Options{
		Room: 8192, Batch: 500, Every: time.Second, Timeout: time.Second, Codes: 100_000,
		Count: func(context.Context, string, int) {}, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	before := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	change := push.Change{Ref: ref("c"), Before: before, After: before[1:]}
	for _, s := range before {
		change.PerStaff = append(change.PerStaff, roster.Judgement{Staff: s, Reason: reason.Eligible})
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Changed(b.Context(), change)
	}
}
