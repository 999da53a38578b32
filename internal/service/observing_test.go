package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// counts reads every counter and the count of every histogram as
// "name{label=value,…} n".
func counts(t *testing.T, reader sdkmetric.Reader) string {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					fmt.Fprintf(&b, "%s{%s} %d\n", m.Name, p.Attributes.Encoded(attribute.DefaultEncoder()), p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					fmt.Fprintf(&b, "%s{%s} %d\n", m.Name, p.Attributes.Encoded(attribute.DefaultEncoder()), p.Count)
				}
			}
		}
	}
	return b.String()
}

func TestOnlyPushesCountAsFreshness(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	m, err := metrics.NewRefresher(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	o := observer{m}
	o.Ended(t.Context(), intake.Ended{Outcome: push.Done{Reason: reason.Unchanged}, Freshness: time.Second})
	o.Ended(t.Context(), intake.Ended{Outcome: push.Hold{Cause: reason.Throttled}})
	if got := counts(t, reader); strings.Contains(got, "freshness") {
		t.Errorf("freshness without a push:\n%s", got)
	}
	o.Ended(t.Context(), intake.Ended{Outcome: push.Done{Reason: reason.Pushed}, Freshness: time.Second, Waited: reason.Throttled})
	o.Ended(t.Context(), intake.Ended{Outcome: push.Park{Mark: push.Mark{Reason: reason.Overflow}}})
	o.Acked(t.Context(), reason.Coalesced)
	got := counts(t, reader)
	for _, want := range []string{"rollcall.refresh.freshness", "throttled=true", "rollcall.parks", "overflow", "rollcall.coalesced{} 1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestCallsAreCountedByWhatBecameOfThem(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	m, err := metrics.NewRefresher(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	v := observedVendor{&scripted{script: []error{
		nil, &push.CallError{Op: "update_contact_way", ErrCode: 40003}, &push.CallError{Op: "update_contact_way", Unknown: true},
		&push.CallError{Op: "update_contact_way", Class: reason.BreakerOpen},
	}}, m}
	for range 4 {
		err := v.Update(context.Background(), push.Call{})
		if call := (*push.CallError)(nil); err != nil && !errors.As(err, &call) {
			t.Errorf("the error %v lost its type", err)
		}
	}
	got := counts(t, reader)
	for _, want := range []string{"applied", "refused", "bad_member", "unknown", "transient"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "rollcall.pushes{"); n != 3 {
		t.Errorf("%d kinds of ends; a call that the breaker stopped is none:\n%s", n, got)
	}
}
