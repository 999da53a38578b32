package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Each recording method of the keeper, and the series it moves.
func TestKeeperRecording(t *testing.T) {
	for _, tc := range []struct {
		name   string
		record func(*Keeper)
		want   []string
	}{
		{"a takeover in order", func(k *Keeper) { k.TookOver(t.Context(), "released") }, []string{`rollcall.keeper.takeovers{opening=released} 1`}},
		{"a takeover from the dead", func(k *Keeper) { k.TookOver(t.Context(), "expired") }, []string{`rollcall.keeper.takeovers{opening=expired} 1`}},
		{"a takeover nobody knows", func(k *Keeper) { k.TookOver(t.Context(), "keeper-7") }, []string{`rollcall.keeper.takeovers{opening=other} 1`}},
		{"a sweep", func(k *Keeper) { k.Swept(t.Context(), SweepRelease, 30*time.Millisecond) }, []string{`rollcall.keeper.sweep{sweep=release} 1 x 0.03`}},
		{
			"released codes", func(k *Keeper) {
				k.Released(t.Context(), map[reason.Reason]int{reason.Overflow: 40, reason.Transient: 2}, time.Minute)
			},
			[]string{`rollcall.keeper.late{} 1 x 60`, `rollcall.keeper.released{reason=overflow} 40`, `rollcall.keeper.released{reason=transient} 2`},
		},
		{
			"codes that time changed", func(k *Keeper) { k.Released(t.Context(), map[reason.Reason]int{reason.TimeChange: 3}, 0) },
			[]string{`rollcall.keeper.late{} 1 x 0`, `rollcall.keeper.released{reason=time_change} 3`},
		},
		{"nothing released", func(k *Keeper) { k.Released(t.Context(), nil, 0) }, nil},
		{"marked codes", func(k *Keeper) { k.Marked(t.Context(), 3) }, []string{`rollcall.keeper.marked{} 3`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reader := sdkmetric.NewManualReader()
			tc.record(newKeeper(t, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")))
			if diff := cmp.Diff(tc.want, collect(t, reader)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A keeper that stands by shows a zero, not nothing: the sum over all keepers
// has to be there to be alerted on.
func TestTheLeaseIsAskedForWhenCollected(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	k := newKeeper(t, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	held := false
	stop, err := k.ObserveLease(func() bool { return held })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`rollcall.keeper.lease{} 0`, `rollcall.keeper.lease{} 1`} {
		if diff := cmp.Diff([]string{want}, collect(t, reader)); diff != "" {
			t.Error(diff)
		}
		held = true
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("after stop: %v", got)
	}
}

func newKeeper(t *testing.T, meter metric.Meter) *Keeper {
	t.Helper()
	k, err := NewKeeper(meter)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// touchKeeper moves every instrument of the keeper once.
func touchKeeper(t *testing.T, meter metric.Meter) {
	t.Helper()
	k := newKeeper(t, meter)
	k.TookOver(t.Context(), "released")
	k.Swept(t.Context(), SweepRelease, time.Second)
	k.Released(t.Context(), map[reason.Reason]int{reason.Overflow: 1}, time.Second)
	k.Marked(t.Context(), 1)
	if _, err := k.ObserveLease(func() bool { return true }); err != nil {
		t.Fatal(err)
	}
}
