package board

import (
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

func freshnessBurns(v View) []Incident {
	if v.Freshness == nil || v.Freshness.LastHour.Late <= fewLate {
		return nil
	}
	burn := min(v.Freshness.LastFive.Burn(), v.Freshness.LastHour.Burn())
	hour := v.Freshness.LastHour
	text := fmt.Sprintf("%.1f %% of the last hour's pushes took longer than %v; %.0f %% may", 100*(1-hour.Share), Within, 100*(1-Objective))
	switch {
	case burn > burnFast:
		return []Incident{page("RollcallFreshnessBurnFast", text)}
	case burn > burnSlow:
		return []Incident{ticket("RollcallFreshnessBurnSlow", text)}
	}
	return nil
}

func vendorFailing(v View) []Incident {
	if v.Work == nil {
		return nil
	}
	calls, failed := v.Work.LastFive.Calls, v.Work.LastFive.Errors[reason.Transient]
	if failed <= fewTransient || float64(failed) <= mostTransient*float64(calls) {
		return nil
	}
	text := fmt.Sprintf("WeCom did not take %d of the last five minutes' %d calls", failed, calls)
	return []Incident{page("RollcallVendorFailing", text).because(reason.Transient)}
}

// tenantsBlocked looks at what the budget refused too: the tenants with most calls
// are not all, and a block that is longer than a hold may be holds no code.
func tenantsBlocked(v View) []Incident {
	var names []string
	var until time.Time
	if v.Budget != nil {
		for _, t := range v.Budget.Hottest {
			if t.BlockedUntil.After(v.At) {
				names = append(names, t.Tenant)
				until = later(until, t.BlockedUntil)
			}
		}
	}
	held, refused := v.held(reason.Blocked), 0
	if v.Work != nil {
		refused = v.Work.LastFive.Refusals[reason.Blocked]
	}
	if len(names) == 0 && held == 0 && refused == 0 {
		return nil
	}
	text := fmt.Sprintf("WeCom has blocked %s (45009); %s held", some(names, "a tenant"), codes(held))
	if len(names) == 0 && held == 0 { // its codes are in the dirty set: a long block holds none
		text = fmt.Sprintf("WeCom has blocked a tenant (45009); %s of the last five minutes refused for that", counted(refused, "push", "pushes"))
	}
	if !until.IsZero() {
		text += ", until " + until.UTC().Format("15:04:05")
	}
	return []Incident{page("RollcallTenantBlocked", text).because(reason.Blocked)}
}

func tenantsSuspended(v View) []Incident {
	waiting := v.held(reason.Suspended)
	since := time.Time{}
	if v.Dirty != nil {
		for _, r := range v.Dirty.Reasons {
			if r.Reason == reason.Suspended || r.Reason == reason.Credentials {
				waiting += r.Codes
				since = earlier(since, r.Oldest)
			}
		}
	}
	if waiting == 0 {
		return nil
	}
	var names []string
	if v.Work != nil {
		for _, t := range v.Work.Top {
			if t.Held[reason.Suspended] > 0 {
				names = append(names, t.Tenant)
			}
		}
	}
	text := fmt.Sprintf("WeCom refuses the credentials of %s; %s", some(names, "a tenant"), codesWait(waiting))
	return []Incident{ticket("RollcallTenantSuspended", text).because(reason.Suspended).since(since)}
}
