package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/rollcall-dev/rollcall/internal/draw"
)

// Each recording method of the draw, and the series it moves.
func TestDrawsRecording(t *testing.T) {
	for _, tc := range []struct {
		name   string
		record func(*Draws)
		want   []string
	}{
		{
			"a draw", func(d *Draws) { d.Ended(t.Context(), draw.API, draw.Drawn, 2*time.Millisecond) },
			[]string{`rollcall.draw.duration{surface=api} 1 x 0.002`, `rollcall.draws{ending=drawn,surface=api} 1`},
		},
		{
			"a request that was not tried", func(d *Draws) { d.Ended(t.Context(), draw.Page, draw.Limited, 0) },
			[]string{`rollcall.draws{ending=limited,surface=page} 1`},
		},
		{
			"what nobody knows", func(d *Draws) { d.Ended(t.Context(), "fax", "lost", 0) },
			[]string{`rollcall.draws{ending=other,surface=other} 1`},
		},
		{"a set made", func(d *Draws) { d.Rebuilt(t.Context(), true) }, []string{`rollcall.draw.sets_rebuilt{outcome=made} 1`}},
		{"a set not made", func(d *Draws) { d.Rebuilt(t.Context(), false) }, []string{`rollcall.draw.sets_rebuilt{outcome=failed} 1`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reader := sdkmetric.NewManualReader()
			tc.record(newDraws(t, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")))
			if diff := cmp.Diff(tc.want, collect(t, reader)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func newDraws(t *testing.T, meter metric.Meter) *Draws {
	t.Helper()
	d, err := NewDraws(meter)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// touchDraws moves every instrument of the draw once.
func touchDraws(t *testing.T, meter metric.Meter) {
	t.Helper()
	d := newDraws(t, meter)
	d.Ended(t.Context(), draw.API, draw.Drawn, time.Second)
	d.Rebuilt(t.Context(), true)
}
