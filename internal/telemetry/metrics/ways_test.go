package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/rollcall-dev/rollcall/internal/contactway"
)

func TestWaysRecording(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	w := newWays(t, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	w.WayEvent(t.Context(), contactway.Multi, contactway.EventMade)
	w.WayEvent(t.Context(), contactway.Multi, contactway.EventMade)
	w.WayEvent(t.Context(), contactway.Single, contactway.EventRefused)
	w.WayEvent(t.Context(), 9, "lost")
	want := []string{
		`rollcall.contact_ways{event=made,kind=code} 2`,
		`rollcall.contact_ways{event=other,kind=other} 1`,
		`rollcall.contact_ways{event=refused,kind=member} 1`,
	}
	if diff := cmp.Diff(want, collect(t, reader)); diff != "" {
		t.Error(diff)
	}
}

func newWays(t *testing.T, meter metric.Meter) *Ways {
	t.Helper()
	w, err := NewWays(meter)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// touchWays moves the instrument once.
func touchWays(t *testing.T, meter metric.Meter) {
	t.Helper()
	newWays(t, meter).WayEvent(t.Context(), contactway.Multi, contactway.EventMade)
}
