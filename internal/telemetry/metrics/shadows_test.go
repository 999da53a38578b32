package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

func TestShadowsRecording(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	s := newShadows(t, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	s.Compared(t.Context(), shadow.Match, nil)
	s.Compared(t.Context(), shadow.Mismatch, []shadow.Cause{
		{Kind: shadow.Lists, Reason: reason.RemovedToday}, {Kind: shadow.Lacks, Reason: reason.Eligible}, {Kind: shadow.Lists, Reason: reason.Panicked},
	})
	s.Compared(t.Context(), shadow.NoVerdict, nil)
	want := []string{
		`rollcall.shadow.comparisons{result=match} 1`,
		`rollcall.shadow.comparisons{result=mismatch} 1`,
		`rollcall.shadow.comparisons{result=no_verdict} 1`,
		`rollcall.shadow.mismatches{cause=lacks/eligible} 1`,
		`rollcall.shadow.mismatches{cause=lists/removed_today} 1`,
		`rollcall.shadow.mismatches{cause=other} 1`,
	}
	if diff := cmp.Diff(want, collect(t, reader)); diff != "" {
		t.Error(diff)
	}
}

func newShadows(t *testing.T, meter metric.Meter) *Shadows {
	t.Helper()
	s, err := NewShadows(meter)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// touchShadows moves every instrument once.
func touchShadows(t *testing.T, meter metric.Meter) {
	t.Helper()
	newShadows(t, meter).Compared(t.Context(), shadow.Mismatch, []shadow.Cause{{Kind: shadow.Lists, Reason: reason.Offline}})
}
