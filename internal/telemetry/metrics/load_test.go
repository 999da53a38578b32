package metrics

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

func touchLoad(t *testing.T, r *Refresher) {
	t.Helper()
	_, err := r.ObserveLoad(Limits{TenantMinute: 1, TenantHour: 2, IPMinute: 3, IPHour: 4, Codes: 5}, func() Load {
		return Load{Top: []int{9, 5}, Share: 0.25}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	r, err := NewRefresher(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	touchLoad(t, r)
	want := []string{
		`rollcall.backlog.top{rank=01} 9`, `rollcall.backlog.top{rank=10} 0`, `rollcall.backlog.top{rank=02} 5`,
	}
	for rank := 3; rank < 10; rank++ {
		want = append(want, fmt.Sprintf(`rollcall.backlog.top{rank=%02d} 0`, rank))
	}
	want = append(want, `rollcall.backlog.limit{} 5`,
		`rollcall.budget.limit{scope=ip,window=hour} 4`, `rollcall.budget.limit{scope=ip,window=minute} 3`,
		`rollcall.budget.limit{scope=tenant,window=hour} 2`, `rollcall.budget.limit{scope=tenant,window=minute} 1`,
		`rollcall.refresher.load{} 0.25`)
	slices.Sort(want)
	if diff := cmp.Diff(want, collect(t, reader)); diff != "" {
		t.Error(diff)
	}
}

func touchSubscription(t *testing.T, s *Subscription) {
	t.Helper()
	s.Looked(t.Context(), LookOK)
	if _, err := s.Observe(func() *SubscriptionState { return &SubscriptionState{} }); err != nil {
		t.Fatal(err)
	}
}

// What is not known now has no series: an old value would look like a calm one.
func TestASubscriptionThatCannotBeAskedForHasNoFigures(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	s, err := NewSubscription(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	known := &SubscriptionState{
		Backlog: 1, Unacked: 2, InReplay: 3, AckHoles: 4, Consumers: 5, BlockedConsumers: 6, DrainingHashes: 7,
		Oldest: 1500 * time.Millisecond, DeadLetters: 8,
	}
	if _, err := s.Observe(func() *SubscriptionState { return known }); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`rollcall.dead_letters.waiting{} 8`, `rollcall.subscription.ack_holes{} 4`, `rollcall.subscription.backlog{} 1`,
		`rollcall.subscription.blocked_consumers{} 6`, `rollcall.subscription.consumers{} 5`, `rollcall.subscription.draining_hashes{} 7`,
		`rollcall.subscription.in_replay{} 3`, `rollcall.subscription.oldest{} 1.5`, `rollcall.subscription.unacked{} 2`,
	}
	if diff := cmp.Diff(want, collect(t, reader)); diff != "" {
		t.Error(diff)
	}
	known = nil
	s.Looked(t.Context(), LookFailed)
	if diff := cmp.Diff([]string{`rollcall.subscription.looks{outcome=failed} 1`}, collect(t, reader)); diff != "" {
		t.Error(diff)
	}
}

func TestDependencies(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")
	up := map[string]bool{"mongodb": true, "redis": false, "something new": true}
	stop, err := ObserveDependencies(meter, func() map[string]bool { return up })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`rollcall.dependency.up{dependency=mongodb} 1`, `rollcall.dependency.up{dependency=other} 1`, `rollcall.dependency.up{dependency=redis} 0`}
	if diff := cmp.Diff(want, collect(t, reader)); diff != "" {
		t.Error(diff)
	}
	if err := stop(); err != nil || len(collect(t, reader)) != 0 {
		t.Errorf("still asked after stop, %v", err)
	}
}
