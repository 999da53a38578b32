package metrics

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/trail"
)

const nameTrail = "rollcall.trail.entries"

func trailing() []Instrument {
	return []Instrument{{
		Name: nameTrail, Prometheus: "rollcall_trail_entries_total", Kind: Counter, Unit: "{entry}",
		Labels: []Label{{"fate", []string{trail.Written, trail.Dropped, trail.Failed, Other}}},
		What:   "Entries of the codes' trails, from which the past is explained: written, dropped because MongoDB was slower than what happened, or not taken by it. No push waits for them.",
		Action: "dropped or failed for long: `rollcall explain --at` says that entries are missing; MongoDB is slow or away.",
	}}
}

// Trail records what becomes of the trail's entries. It is safe for concurrent use
// and neither blocks nor fails.
type Trail struct{ entries counter }

// NewTrail makes the instrument of the catalog.
func NewTrail(meter metric.Meter) (*Trail, error) {
	b := builder{meter: meter}
	t := &Trail{entries: b.counter(nameTrail)}
	if b.err != nil {
		return nil, fmt.Errorf("creating the trail's metrics: %w", b.err)
	}
	return t, nil
}

// Noted records entries by their fate: trail.Written, Dropped or Failed.
func (t *Trail) Noted(ctx context.Context, fate string, entries int) {
	t.entries.addMany(ctx, entries, fate)
}
