package registry

import (
	"context"
	"time"
)

const (
	// leftAfter is the age of a write from which its writer is taken for dead.
	// An import's chunk, the longest write, has a minute.
	leftAfter = 2 * time.Minute
	sweepPage = 500
)

// Sweep announces what was written and of which nobody was told, and returns how
// many staff members and tenants that were. It may be run by several processes
// at once: the stamp of the write is the key of its fan-outs.
func (r *Registry) Sweep(ctx context.Context) (int, error) {
	left, err := r.o.Facts.LeftBehind(ctx, stampAt(r.o.Now().Add(-leftAfter)), sweepPage)
	if err != nil {
		return 0, err
	}
	staff := map[write][]string{}
	done := 0
	for _, one := range left {
		if one.Staff != "" {
			of := write{one.Tenant, one.Stamp}
			staff[of] = append(staff[of], one.Staff)
			continue
		}
		if _, err := r.tenantFanOut(ctx, Outcome{}, one.Tenant, whyLeft, one.Stamp); err != nil {
			return done, err
		}
		done++
	}
	for of, ids := range staff {
		if err := r.announceStaff(ctx, of.tenant, ids, whyLeft, of.stamp); err != nil {
			return done, err
		}
		done += len(ids)
	}
	return done, nil
}

// whyLeft is the reason of events about what was left behind.
const whyLeft = "left_unannounced"

// write is one write of staff members of a tenant.
type write struct{ tenant, stamp string }
