package redisbudget

import (
	"cmp"
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// meters are the package's instruments.
type meters struct {
	admissions metric.Int64Counter
	spare      metric.Int64Counter
	degraded   metric.Int64Gauge
	blocks     metric.Int64Counter
}

func newMeters(m metric.Meter) (meters, error) {
	admissions, err1 := m.Int64Counter("rollcall.budget.admissions",
		metric.WithDescription("Asks of the vendor budget, by result and cause."), metric.WithUnit("{ask}"))
	spare, err4 := m.Int64Counter("rollcall.budget.spare",
		metric.WithDescription("Asks for a call that nobody waits for, and whether it was granted."), metric.WithUnit("{ask}"))
	degraded, err2 := m.Int64Gauge("rollcall.budget.degraded",
		metric.WithDescription("1 while Redis cannot be asked and the instance paces itself by its own share."), metric.WithUnit("{instance}"))
	blocks, err3 := m.Int64Counter("rollcall.budget.throttled_answers",
		metric.WithDescription("Answers 45009 and 45033 of the vendor."), metric.WithUnit("{answer}"))
	return meters{admissions, spare, degraded, blocks}, errors.Join(err1, err2, err3, err4)
}

// admission counts one answer. The result is granted, booked or beyond (the
// horizon).
func (m meters) admission(ctx context.Context, a push.Admission) {
	result := "beyond"
	switch {
	case a.Granted:
		result = "granted"
	case a.Booked:
		result = "booked"
	}
	m.admissions.Add(ctx, 1, metric.WithAttributes(
		attribute.String("result", result), attribute.String("cause", cmp.Or(a.Cause.String(), "none"))))
}

// spared counts one ask for spare budget.
func (m meters) spared(ctx context.Context, granted bool) {
	m.spare.Add(ctx, 1, metric.WithAttributes(attribute.Bool("granted", granted)))
}

// state records on whose pace the instance goes.
func (m meters) state(ctx context.Context, s state) { m.degraded.Record(ctx, int64(s)) }

func (m meters) throttled(ctx context.Context, errcode int) {
	m.blocks.Add(ctx, 1, metric.WithAttributes(attribute.Int("errcode", errcode)))
}
