package campaign

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// stormTenant is the tenant that storms.
const stormTenant = "storm"

// tenantPlan is what a tenant looks like at the start.
type tenantPlan struct {
	tenant roster.Tenant
	staff  []roster.Staff
	codes  []roster.Code
}

// plan lays out the world: the same seed and start give the same one.
func plan(o Options, start time.Time) []tenantPlan {
	rnd := rand.New(rand.NewPCG(o.Seed, 1))
	var plans []tenantPlan
	for i := range o.Tenants {
		id := fmt.Sprintf("t%03d", i)
		codes := (i+1)*o.Codes/o.Tenants - i*o.Codes/o.Tenants // evenly, and all of them
		plans = append(plans, planTenant(rnd, id, o.Staff/o.Tenants, codes, start))
	}
	if o.StormCodes > 0 {
		plans = append(plans, planStorm(o.StormCodes, start))
	}
	return plans
}

func planTenant(rnd *rand.Rand, id string, staff, codes int, start time.Time) tenantPlan {
	p := tenantPlan{tenant: roster.Tenant{ID: id, TimeZone: "Asia/Shanghai"}}
	if rnd.IntN(2) == 0 {
		p.tenant.DailyTotal = 12
	}
	for i := range staff {
		p.staff = append(p.staff, planStaff(rnd, fmt.Sprintf("s%02d", i), start))
	}
	for i := range codes {
		p.codes = append(p.codes, planCode(rnd, id, fmt.Sprintf("%s-c%04d", id, i), p.staff, start))
	}
	return p
}

// planStaff makes a staff member; one in five works by a schedule whose shift
// ends at one of the next full minutes.
func planStaff(rnd *rand.Rand, id string, start time.Time) roster.Staff {
	s := roster.Staff{ID: id, Presence: roster.Online}
	if rnd.IntN(5) == 0 {
		s.Presence = roster.PresenceUnset
		s.Schedule = shiftEnding(start.Add(time.Minute * time.Duration(rnd.IntN(2))).Add(10 * time.Second))
	}
	return s
}

// shiftEnding is a schedule that is on duty until the full minute after t.
func shiftEnding(t time.Time) *roster.Schedule {
	utc := t.UTC().Truncate(time.Minute).Add(time.Minute)
	end := utc.Hour()*60 + utc.Minute()
	s := &roster.Schedule{TimeZone: "UTC"}
	for day := range s.Weekly {
		s.Weekly[day] = []roster.Shift{{From: (end + 2) % 1440, To: (end+2)%1440 + 1438}}
	}
	return s
}

func planCode(rnd *rand.Rand, tenant, id string, staff []roster.Staff, start time.Time) roster.Code {
	c := roster.Code{
		ID: id, Tenant: tenant, ConfigID: "cfg-" + id, Family: roster.Native, Revision: 1,
		CreatedAt: start, UpdatedAt: start, State: id,
		Switches: roster.Switches{OfflineCheck: true},
		OnEmpty:  roster.KeepLast,
	}
	switch rnd.IntN(5) {
	case 0:
		c.Family = roster.Sequenced
	case 1:
		c.Family = roster.Quota
		c.Switches.DailyLimit = true
	}
	if rnd.IntN(4) == 0 {
		c.Switches.AddLimit = true
	}
	if c.Family == roster.Sequenced && rnd.IntN(2) == 0 {
		c.Switches.RoundLimit = true
	}
	for _, i := range rnd.Perm(len(staff))[:3+rnd.IntN(4)] {
		c.Members = append(c.Members, roster.Member{
			Staff: staff[i].ID, AddLimit: 4 + rnd.IntN(8), DailyLimit: 2 + rnd.IntN(5), RoundLimit: 1 + rnd.IntN(2),
		})
	}
	c.Backups = []string{staff[rnd.IntN(len(staff))].ID}
	return c
}

// planStorm is a tenant whose six people sit on every one of its codes: each
// time one of them comes or goes, all codes change.
func planStorm(codes int, start time.Time) tenantPlan {
	p := tenantPlan{tenant: roster.Tenant{ID: stormTenant}}
	var members []roster.Member
	for i := range 6 {
		id := fmt.Sprintf("s%02d", i)
		p.staff = append(p.staff, roster.Staff{ID: id, Presence: roster.Online})
		members = append(members, roster.Member{Staff: id})
	}
	for i := range codes {
		id := fmt.Sprintf("%s-c%04d", stormTenant, i)
		p.codes = append(p.codes, roster.Code{
			ID: id, Tenant: stormTenant, ConfigID: "cfg-" + id, Family: roster.Native, Members: members, Revision: 1,
			CreatedAt: start, UpdatedAt: start, State: id, Switches: roster.Switches{OfflineCheck: true},
		})
	}
	return p
}

// tenantOf returns the tenant in a code's ID.
func tenantOf(code string) string {
	tenant, _, _ := strings.Cut(code, "-c")
	return tenant
}
