package campaign

import (
	"context"
	"fmt"
	"time"
)

// drainWithin is longer than a process may take to drain, as Kubernetes' grace
// period is.
const drainWithin = 30 * time.Second

// Rolled is how a roll went.
type Rolled struct {
	To        string    `json:"to"`
	Replaced  int       `json:"replaced"` // processes
	Seconds   float64   `json:"s"`
	Freshness Quantiles `json:"freshness_ms"` // of calm tenants, while it lasted
}

// roll replaces every process, role by role. That one does not become ready or
// does not drain is an error: Kubernetes would stop there.
func (r *running) roll(ctx context.Context, roll Roll) error {
	began, out := time.Now(), Rolled{To: roll.To}
	r.live.say("rolling to %s", roll.To)
	r.tally.rollBegins()
	for _, role := range []string{"refresher", "ingress", "keeper"} {
		for _, old := range r.members(role) {
			fresh, err := r.fleet.StartAs(ctx, roll.Launcher, role)
			if err != nil {
				return fmt.Errorf("roll to %s: %w", roll.To, err)
			}
			draining, stop := context.WithTimeout(ctx, drainWithin)
			err = r.fleet.Retire(draining, old)
			stop()
			if err != nil {
				return fmt.Errorf("roll to %s: %w", roll.To, err)
			}
			out.Replaced++
			r.live.say("%s has taken over from %s", fresh.Name(), old.Name())
		}
	}
	out.Freshness, out.Seconds = r.tally.rollEnds(), time.Since(began).Seconds()
	r.rolled = append(r.rolled, out)
	return nil
}
