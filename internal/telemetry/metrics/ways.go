package metrics

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/contactway"
)

const nameContactWays = "rollcall.contact_ways"

// makingWays are about the making of contact ways.
func makingWays() []Instrument {
	return []Instrument{{
		Name: nameContactWays, Prometheus: "rollcall_contact_ways_total", Kind: Counter, Unit: "{way}",
		Labels: []Label{
			{"kind", []string{wayOfCode, wayOfMember, Other}},
			{"event", []string{
				string(contactway.EventMade), string(contactway.EventFound), string(contactway.EventAdopted),
				string(contactway.EventRefused), string(contactway.EventSpare), Other,
			}},
		},
		What:   "Contact ways at WeCom, of codes and of single members: made; found after an answer was lost; adopted; refused by WeCom; spare ones that were deleted.",
		Action: "refused: the log and the API's answer say why; a company may be at WeCom's cap. found is harmless. spare again and again: clocks differ by tens of seconds, or WeCom takes calls very late.",
	}}
}

// The values of the label kind.
const (
	wayOfCode   = "code"
	wayOfMember = "member"
)

// Ways records the making of contact ways. It is safe for concurrent use and
// neither blocks nor fails.
type Ways struct{ events counter }

var _ contactway.Observer = (*Ways)(nil)

// NewWays makes the instrument of the catalog.
func NewWays(meter metric.Meter) (*Ways, error) {
	b := builder{meter: meter}
	w := &Ways{events: b.counter(nameContactWays)}
	if b.err != nil {
		return nil, fmt.Errorf("creating the metrics of contact ways: %w", b.err)
	}
	return w, nil
}

// WayEvent counts an event.
func (w *Ways) WayEvent(ctx context.Context, kind contactway.Kind, event contactway.Event) {
	w.events.add(ctx, map[contactway.Kind]string{contactway.Multi: wayOfCode, contactway.Single: wayOfMember}[kind], string(event))
}
