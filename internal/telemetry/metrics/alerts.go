package metrics

import (
	"context"

	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// alertKinds are what alerts are about, alertFates what becomes of them.
var (
	alertKinds = label("kind", nil, []reason.Reason{
		reason.Blocked, reason.Throttled, reason.Suspended, reason.Quarantined, reason.Unsettled, reason.StoreDown, reason.NobodyLeft, reason.PoolExhausted,
	})
	alertFates = Label{"outcome", []string{
		string(alert.Sent), string(alert.Logged), string(alert.Merged), string(alert.Elsewhere), string(alert.Dropped), string(alert.Failed), Other,
	}}
)

// Alerted records what became of an alert.
func (r *Refresher) Alerted(ctx context.Context, kind reason.Reason, fate alert.Fate) {
	r.alerts.add(ctx, kind.String(), string(fate))
}
