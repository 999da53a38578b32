package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/rollcall-dev/rollcall/internal/adapter/callback"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// An addition at a ceiling reaches it; only one beyond it passes it.
func TestReachedAndPassed(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	q, err := NewQuota(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	for count := 5; count <= 7; count++ {
		q.Reached(t.Context(), quota.Counting{}, quota.Ceiling{Kind: reason.AtCompanyLimit, Count: count, Limit: 5})
	}
	got := map[string]int64{}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	for _, m := range data.ScopeMetrics[0].Metrics {
		for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
			got[m.Name] += point.Value
		}
	}
	if diff := cmp.Diff(map[string]int64{nameCeilings: 3, nameOverCeiling: 2}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// touchQuota moves every instrument of callbacks and fan-outs once.
func touchQuota(t *testing.T, meter metric.Meter) {
	t.Helper()
	q, err := NewQuota(meter)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	q.Answered(ctx, callback.Taken, time.Millisecond)
	q.Judged(ctx, quota.Counted)
	q.Reached(ctx, quota.Counting{}, quota.Ceiling{Kind: reason.AtDailyLimit, Count: 2, Limit: 1})
	q.Fell(ctx, reason.RemovedToday)
	q.Released(ctx, fanout.Job{}, 1)
	q.Ended(ctx, fanout.Job{}, fanout.Finished)
}
