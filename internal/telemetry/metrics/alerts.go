package metrics

import (
	"context"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// AlertFate is what became of an alert.
type AlertFate string

// The fates.
const (
	AlertSent      AlertFate = "sent"      // a person can read it
	AlertLogged    AlertFate = "logged"    // nobody is configured to be told; it is in the log
	AlertMerged    AlertFate = "merged"    // counted in a message that was sent, or will be
	AlertElsewhere AlertFate = "elsewhere" // another instance tells of it
	AlertDropped   AlertFate = "dropped"   // too many different ones wait
	AlertFailed    AlertFate = "failed"    // could not be delivered
)

// Alerted records what became of an alert.
func (r *Refresher) Alerted(ctx context.Context, kind reason.Reason, fate AlertFate) {
	r.alerts.add(ctx, kind.String(), string(fate))
}
