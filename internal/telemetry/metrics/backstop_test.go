package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

func newBackstop(t *testing.T, meter metric.Meter) *Backstop {
	t.Helper()
	b, err := NewBackstop(meter)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBackstopRecording(t *testing.T) {
	for name, tc := range map[string]struct {
		record func(*Backstop)
		want   []string
	}{
		"settled":         {func(b *Backstop) { b.Settled(t.Context(), SettledAgreed, 3) }, []string{`rollcall.dirty.settled{result=agreed} 3`}},
		"nothing settled": {func(b *Backstop) { b.Settled(t.Context(), SettledAgreed, 0) }, nil},
		"a look":          {func(b *Backstop) { b.Looked(t.Context(), "agrees") }, []string{`rollcall.audit.looks{result=agrees} 1`}},
		"a difference":    {func(b *Backstop) { b.Looked(t.Context(), reason.Stale.String()) }, []string{`rollcall.audit.looks{result=stale} 1`}},
		"a pass":          {func(b *Backstop) { b.Passed(t.Context(), time.Hour) }, []string{`rollcall.audit.pass{} 1 x 3600`}},
		"a census": {func(b *Backstop) {
			_, err := b.ObserveDirty(func() []DirtyCount { return []DirtyCount{{reason.Stale, 4, time.Minute}} })
			if err != nil {
				t.Fatal(err)
			}
		}, []string{`rollcall.dirty.codes{reason=stale} 4`, `rollcall.dirty.oldest{reason=stale} 60`}},
	} {
		t.Run(name, func(t *testing.T) {
			reader := sdkmetric.NewManualReader()
			tc.record(newBackstop(t, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")))
			if diff := cmp.Diff(tc.want, collect(t, reader)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// touchBackstop moves every instrument of the backstop once.
func touchBackstop(t *testing.T, meter metric.Meter) {
	t.Helper()
	b := newBackstop(t, meter)
	b.Settled(t.Context(), SettledAgreed, 1)
	b.Looked(t.Context(), "agrees")
	b.Passed(t.Context(), time.Second)
	if _, err := b.ObserveDirty(func() []DirtyCount { return []DirtyCount{{reason.Stale, 1, time.Second}} }); err != nil {
		t.Fatal(err)
	}
}
