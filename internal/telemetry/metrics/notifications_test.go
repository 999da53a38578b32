package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Each recording method of notifications, and the series it moves.
func TestNotificationsRecording(t *testing.T) {
	for _, tc := range []struct {
		name   string
		record func(*Notifications)
		want   []string
	}{
		{"a notice", func(n *Notifications) { n.Filed(t.Context(), notify.CeilingReachedDay, notify.Filed) }, []string{`rollcall.notices{fate=filed,kind=at_daily_limit} 1`}},
		{"a notice for nobody", func(n *Notifications) { n.Filed(t.Context(), notify.StaffResigned, notify.NoChannel) }, []string{`rollcall.notices{fate=no_channel,kind=resigned} 1`}},
		{"a notice of another kind", func(n *Notifications) { n.Filed(t.Context(), "birthday", notify.Filed) }, []string{`rollcall.notices{fate=filed,kind=other} 1`}},
		{"a delivery", func(n *Notifications) { n.Moved(t.Context(), notify.ViaRobot, notify.Success) }, []string{`rollcall.deliveries{state=success,via=robot} 1`}},
		{"a channel nobody knows", func(n *Notifications) { n.Moved(t.Context(), "pigeon", notify.Held) }, []string{`rollcall.deliveries{state=held,via=other} 1`}},
		{"an alert", func(n *Notifications) { n.Alerted(t.Context(), reason.PoolExhausted, alert.Sent) }, []string{`rollcall.alerts{kind=pool_exhausted,outcome=sent} 1`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reader := sdkmetric.NewManualReader()
			tc.record(newNotifications(t, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")))
			if diff := cmp.Diff(tc.want, collect(t, reader)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A keeper with nothing to send shows zeros, not nothing.
func TestTheBacklogIsAskedForWhenCollected(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	n := newNotifications(t, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	var backlog notify.Backlog
	stop, err := n.ObserveBacklog(func() notify.Backlog { return backlog })
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		backlog notify.Backlog
		want    []string
	}{
		{notify.Backlog{}, []string{`rollcall.deliveries.held{} 0`, `rollcall.deliveries.oldest{} 0`}},
		{notify.Backlog{Held: 7, Oldest: time.Now().Add(-90*time.Second - time.Second/2)}, []string{`rollcall.deliveries.held{} 7`, `rollcall.deliveries.oldest{} 90`}},
		{notify.Backlog{Oldest: time.Now().Add(time.Hour)}, []string{`rollcall.deliveries.held{} 0`, `rollcall.deliveries.oldest{} 0`}}, // another machine's clock
	} {
		backlog = tc.backlog
		if diff := cmp.Diff(tc.want, collect(t, reader)); diff != "" {
			t.Error(diff)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("after stop: %v", got)
	}
}

func newNotifications(t *testing.T, meter metric.Meter) *Notifications {
	t.Helper()
	n, err := NewNotifications(meter)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// touchNotifications moves every instrument of notifications once.
func touchNotifications(t *testing.T, meter metric.Meter) {
	t.Helper()
	n := newNotifications(t, meter)
	n.Filed(t.Context(), notify.StaffResigned, notify.Filed)
	n.Moved(t.Context(), notify.ViaRobot, notify.Pending)
	if _, err := n.ObserveBacklog(func() notify.Backlog { return notify.Backlog{} }); err != nil {
		t.Fatal(err)
	}
}
