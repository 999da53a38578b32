package metrics

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/draw"
)

const (
	nameDraws        = "rollcall.draws"
	nameDrawDuration = "rollcall.draw.duration"
	nameSetsRebuilt  = "rollcall.draw.sets_rebuilt"
)

// drawing are about the draw and the landing page.
func drawing() []Instrument {
	return []Instrument{
		{
			Name: nameDraws, Prometheus: "rollcall_draws_total", Kind: Counter, Unit: "{request}",
			Labels: []Label{
				{"surface", []string{string(draw.API), string(draw.Page), Other}},
				{"ending", []string{
					string(draw.Drawn), string(draw.Repeated), string(draw.NobodyFree), string(draw.Unknown), string(draw.Native),
					string(draw.Deleted), string(draw.Invalid), string(draw.Unavailable), string(draw.Abandoned),
					string(draw.Refused), string(draw.Limited), string(draw.NoVisit), string(draw.NoWay), Other,
				}},
			},
			What:   "Requests for the next member of a code, by where they were asked and how they ended. no_way is counted beside drawn or repeated: a member was drawn and his QR code could not be had.",
			Action: "unavailable: Redis or MongoDB is away, and customers are turned away. nobody_free for long: a code has fewer members than customers. no_way: WeCom does not make QR codes; see the log. limited: one address opens pages all the time, or ROLLCALL_DRAW_TRUSTED_PROXIES is missing and all customers count as one.",
		},
		{
			Name: nameDrawDuration, Prometheus: "rollcall_draw_duration_seconds", Kind: Histogram, Unit: "s",
			Labels:  []Label{{"surface", []string{string(draw.API), string(draw.Page), Other}}},
			Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5},
			What:    "From the request to the member, whatever the ending; the QR code and the page are not in it.",
			Action:  "Above 25 ms at p99: Redis is slow, or sets are made again all the time.",
		},
		{
			Name: nameSetsRebuilt, Prometheus: "rollcall_draw_sets_rebuilt_total", Kind: Counter, Unit: "{set}",
			Labels: []Label{{"outcome", []string{"made", "failed", Other}}},
			What:   "Rotation sets that a draw missed and that were made again from the facts. failed includes codes that have no set.",
			Action: "made for many codes at once: Redis lost its data, and with it the draws that were not counted yet. failed: see rollcall.draws for what they ended with.",
		},
	}
}

// Draws records what the landing pages ask for. Its methods are safe for
// concurrent use and neither block nor fail.
type Draws struct {
	draws    counter
	duration histogram
	rebuilt  counter
}

var _ draw.Observer = (*Draws)(nil)

// NewDraws makes the instruments of the catalog.
func NewDraws(meter metric.Meter) (*Draws, error) {
	b := builder{meter: meter}
	d := &Draws{
		draws:    b.counter(nameDraws),
		duration: b.histogram(nameDrawDuration),
		rebuilt:  b.counter(nameSetsRebuilt),
	}
	if b.err != nil {
		return nil, fmt.Errorf("creating the metrics of the draw: %w", b.err)
	}
	return d, nil
}

// Ended records a request and how it ended. took is 0 when no draw was tried.
func (d *Draws) Ended(ctx context.Context, surface draw.Surface, ending draw.Ending, took time.Duration) {
	d.draws.add(ctx, string(surface), string(ending))
	if took > 0 {
		d.duration.record(ctx, took, string(surface), "")
	}
}

// Rebuilt records that a missing set was made again, or that it could not be.
func (d *Draws) Rebuilt(ctx context.Context, ok bool) {
	d.rebuilt.add(ctx, map[bool]string{true: "made", false: "failed"}[ok], "")
}
