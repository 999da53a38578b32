package service

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// figures answers as a broker does, or not at all.
type figures struct {
	stats   pulsarbus.Stats
	letters int64
	err     error
}

func (f *figures) Stats(_ context.Context, topic, subscription string) (pulsarbus.Stats, error) {
	if topic != "the-topic" || subscription != "the-subscription" {
		return pulsarbus.Stats{}, errors.New("another subscription")
	}
	return f.stats, f.err
}

func (f *figures) DeadLetters(_ context.Context, topic, _ string) (int64, error) {
	if topic != "the-letters" {
		return 0, errors.New("another topic")
	}
	return f.letters, f.err
}

func TestTheKeeperKeepsWhatTheBrokerSaidLast(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	seen, err := metrics.NewSubscription(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	broker := &figures{letters: 4, stats: pulsarbus.Stats{
		Backlog: 9, Unacked: 8, InReplay: 7, AckHoles: 6, DrainingHashes: 5, Consumers: 3, BlockedConsumers: 2, Oldest: now.Add(-90 * time.Second),
	}}
	watch := &brokerWatch{
		cfg:   config.Pulsar{Topic: "the-topic", Subscription: "the-subscription", DeadLetterTopic: "the-letters"},
		admin: broker, metrics: seen, now: func() time.Time { return now },
	}
	if err := watch.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := &metrics.SubscriptionState{
		Backlog: 9, Unacked: 8, InReplay: 7, AckHoles: 6, DrainingHashes: 5, Consumers: 3, BlockedConsumers: 2, Oldest: 90 * time.Second, DeadLetters: 4,
	}
	if diff := cmp.Diff(want, watch.last.Load()); diff != "" {
		t.Error(diff)
	}

	broker.stats.Oldest = time.Time{} // nothing waits
	if err := watch.look(t.Context()); err != nil || watch.last.Load().Oldest != 0 {
		t.Errorf("oldest %v, %v", watch.last.Load().Oldest, err)
	}
	broker.err = errors.New("gone")
	if err := watch.look(t.Context()); err == nil || watch.last.Load() != nil {
		t.Errorf("what could not be asked for is still %+v (%v)", watch.last.Load(), err)
	}
	for _, line := range []string{"looks{outcome=ok} 2", "looks{outcome=failed} 1"} {
		if got := counts(t, reader); !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
}
