package metrics

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/metric"
)

const nameDependency = "rollcall.dependency.up"

var dependencyNames = []string{"mongodb", "redis", "pulsar", "pulsar_start", Other}

func depending() []Instrument {
	return []Instrument{{
		Name: nameDependency, Prometheus: "rollcall_dependency_up", Kind: Gauge, Unit: "{dependency}",
		Labels: []Label{{"dependency", dependencyNames}},
		What:   "1 when what this process works with answered within the last seconds, 0 when it did not, as /readyz says it. An ingress is ready without any of them, a keeper without redis and pulsar_start, which says for these two whether the broker was reached since the start.",
		Action: "0 in one process: its node or its network. 0 in all of them: the dependency is down; docs/operations has a page for each. It is known without traffic, too.",
	}}
}

// ObserveDependencies has read asked whenever metrics are collected: which of
// its dependencies the process has, by name. It must be quick and safe to call
// from another goroutine.
func ObserveDependencies(meter metric.Meter, read func() map[string]bool) (stop func() error, err error) {
	b := builder{meter: meter}
	up, of := b.gauge(nameDependency), newSeries(b.find(nameDependency).Labels)
	if b.err != nil {
		return nil, fmt.Errorf("creating the metric of dependencies: %w", b.err)
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for name, answers := range read() {
			o.ObserveInt64(up, map[bool]int64{true: 1}[answers], of.of(name, ""))
		}
		return nil
	}, up)
	if err != nil {
		return nil, fmt.Errorf("observing the dependencies: %w", err)
	}
	return registration.Unregister, nil
}
