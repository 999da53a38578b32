package metrics

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

const (
	nameNotices          = "rollcall.notices"
	nameDeliveries       = "rollcall.deliveries"
	nameDeliveriesOldest = "rollcall.deliveries.oldest"
	nameDeliveriesHeld   = "rollcall.deliveries.held"
)

// telling are about notices to the tenants' people.
func telling() []Instrument {
	return []Instrument{
		{
			Name: nameNotices, Prometheus: "rollcall_notices_total", Kind: Counter, Unit: "{notice}",
			Labels: []Label{wordsOf("kind", notify.Kinds()), {"fate", []string{
				string(notify.Filed), string(notify.Repeated), string(notify.Unwanted), string(notify.NoChannel), Other,
			}}},
			What:   "Notices for a tenant's people, per channel: filed, there already, of a kind that the tenant does not want, or of a tenant without a channel.",
			Action: "no_channel: the tenant's people are told of nothing; configure its channels. repeated is right after a crash or a callback that WeCom sent again.",
		},
		{
			Name: nameDeliveries, Prometheus: "rollcall_deliveries_total", Kind: Counter, Unit: "{delivery}",
			Labels: []Label{wordsOf("via", notify.Vias()), wordsOf("state", notify.States())},
			What:   "Deliveries that came into a state. pending counts filings, retries and what a keeper left behind.",
			Action: "failed: `rollcall deliveries list --state failed` says why; correct the channel, then `rollcall deliveries retry`. Many more sending than success: receivers are down, or refuse. held: see rollcall.deliveries.held.",
		},
		{
			Name: nameDeliveriesOldest, Prometheus: "rollcall_deliveries_oldest_seconds", Kind: UpDownCounter, Unit: "s",
			What:   "Age of the oldest delivery that is neither held nor at its end, as the keeper at work saw it in the last 15 s.",
			Action: "A minute is right for a robot in a storm. Hours: a receiver is down, and its deliveries are tried until ROLLCALL_NOTIFY_MAX_TRIES. Growing for all tenants: no keeper works; see rollcall.keeper.lease.",
		},
		{
			Name: nameDeliveriesHeld, Prometheus: "rollcall_deliveries_held", Kind: UpDownCounter, Unit: "{delivery}",
			What:   "Deliveries that wait because their tenant's daily pool is used up.",
			Action: "They go on at the tenant's midnight. `rollcall deliveries list --state held` says whose they are; raise the tenant's pool, or ask why it has so much to tell.",
		},
	}
}

// wordsOf makes the label of a closed set of words, and "other".
func wordsOf[W ~string](key string, words []W) Label {
	values := make([]string, 0, len(words)+1)
	for _, word := range words {
		values = append(values, string(word))
	}
	return Label{key, append(values, Other)}
}

// Notifications records what becomes of notices. Its methods are safe for
// concurrent use and neither block nor fail.
type Notifications struct {
	notices    counter
	deliveries counter
	alerts     counter

	meter  metric.Meter
	oldest metric.Int64ObservableUpDownCounter
	held   metric.Int64ObservableUpDownCounter
}

var (
	_ notify.Observer = (*Notifications)(nil)
	_ alert.Observer  = (*Notifications)(nil)
)

// NewNotifications makes the instruments of the catalog.
func NewNotifications(meter metric.Meter) (*Notifications, error) {
	b := builder{meter: meter}
	n := &Notifications{
		notices:    b.counter(nameNotices),
		deliveries: b.counter(nameDeliveries),
		alerts:     b.counter(nameAlerts),
		meter:      meter,
	}
	n.oldest, _ = b.upDownCounter(nameDeliveriesOldest)
	n.held, _ = b.upDownCounter(nameDeliveriesHeld)
	if b.err != nil {
		return nil, fmt.Errorf("creating the metrics of notifications: %w", b.err)
	}
	return n, nil
}

// Filed records what became of a notice, per channel.
func (n *Notifications) Filed(ctx context.Context, kind notify.Kind, fate notify.Fate) {
	n.notices.add(ctx, kind.String(), string(fate))
}

// Moved records a delivery that came into a state.
func (n *Notifications) Moved(ctx context.Context, via notify.Via, into notify.State) {
	n.deliveries.add(ctx, string(via), string(into))
}

// Alerted records what became of an alert that a keeper raised.
func (n *Notifications) Alerted(ctx context.Context, kind reason.Reason, fate alert.Fate) {
	n.alerts.add(ctx, kind.String(), string(fate))
}

// ObserveBacklog has backlog asked whenever metrics are collected; it must be
// quick and safe to call from another goroutine. Call stop before what it looks
// at is gone.
func (n *Notifications) ObserveBacklog(backlog func() notify.Backlog) (stop func() error, err error) {
	registration, err := n.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		b := backlog()
		o.ObserveInt64(n.held, int64(b.Held))
		age := time.Duration(0)
		if !b.Oldest.IsZero() {
			age = max(time.Since(b.Oldest), 0)
		}
		o.ObserveInt64(n.oldest, int64(age/time.Second))
		return nil
	}, n.held, n.oldest)
	if err != nil {
		return nil, fmt.Errorf("observing deliveries: %w", err)
	}
	return registration.Unregister, nil
}
