package plan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// ErrUnknownTenant says that there is no such tenant.
var ErrUnknownTenant = errors.New("unknown tenant")

// CodeFacts is a code with what was counted on it, all days that are kept, and
// when it was pushed last.
type CodeFacts struct {
	Code     roster.Code
	Counters roster.Counters
	LastPush time.Time // zero: never
}

// Facts are read by page, in the order of the IDs: pass the last ID of a page to
// get the next one, "" to begin. A page holds at most limit, at least 1.
type Facts interface {
	// Tenant returns a tenant; ErrUnknownTenant.
	Tenant(ctx context.Context, tenant string) (roster.Tenant, error)
	TenantsAfter(ctx context.Context, after string, limit int) ([]roster.Tenant, error)
	StaffAfter(ctx context.Context, tenant, after string, limit int) ([]roster.Staff, error)
	CodesAfter(ctx context.Context, tenant, after string, limit int) ([]CodeFacts, error)
}

// past is how long additions are kept by day.
const past = 7 * 24 * time.Hour

// pageSize is how many documents are read at once.
const pageSize = 500

// MaxCodes is how many codes of one tenant are planned; a play of that many takes
// some hundred megabytes and a few seconds.
const MaxCodes = 500_000

// ErrTooManyCodes says that a tenant has more codes than MaxCodes.
var ErrTooManyCodes = fmt.Errorf("more than %d codes, which is what can be planned", MaxCodes)

// Gather reads a company as it is now.
func Gather(ctx context.Context, facts Facts, tenant roster.Tenant, lanes roster.LaneRules, now time.Time) (Company, error) {
	zone, err := tenant.Location()
	if err != nil {
		return Company{}, fmt.Errorf("tenant %s: %w", tenant.ID, err)
	}
	g := gathering{
		Company: Company{Tenant: tenant.ID, Zone: zone, DailyTotal: tenant.DailyTotal, Day: roster.DayOf(now, zone)},
		tenant:  tenant, lanes: lanes, now: now, index: map[string]int32{},
	}
	if err := g.readStaff(ctx, facts); err != nil {
		return Company{}, fmt.Errorf("read the staff of tenant %s: %w", tenant.ID, err)
	}
	if err := g.readCodes(ctx, facts); err != nil {
		return Company{}, fmt.Errorf("read the codes of tenant %s: %w", tenant.ID, err)
	}
	return g.Company, nil
}

// gathering is a company that is being read.
type gathering struct {
	Company
	tenant roster.Tenant
	lanes  roster.LaneRules
	now    time.Time
	index  map[string]int32 // of people
}

func (g *gathering) readStaff(ctx context.Context, facts Facts) error {
	for after := ""; ; {
		page, err := facts.StaffAfter(ctx, g.Tenant, after, pageSize)
		if err != nil {
			return err
		}
		for i := range page {
			after = page[i].ID
			g.addPerson(&page[i])
		}
		if len(page) < pageSize {
			return nil
		}
	}
}

func (g *gathering) addPerson(s *roster.Staff) {
	g.index[s.ID] = int32(len(g.People))
	g.People = append(g.People, Person{
		ID: s.ID, Barred: s.Resigned || s.QuarantinedUntil.After(g.now), Presence: s.Presence, Schedule: s.Schedule,
		AddedToday: s.Added[g.Day], Removed: s.RemovedOn == g.Day,
	})
}

func (g *gathering) readCodes(ctx context.Context, facts Facts) error {
	for after := ""; ; {
		page, err := facts.CodesAfter(ctx, g.Tenant, after, pageSize)
		if err != nil {
			return err
		}
		for i := range page {
			after = page[i].Code.ID
			if code := &page[i].Code; !code.Deleted && code.ConfigID != "" {
				g.Codes = append(g.Codes, g.code(&page[i]))
			}
		}
		if len(page) < pageSize {
			return nil
		}
		if len(g.Codes) > MaxCodes {
			return ErrTooManyCodes
		}
	}
}

func (g *gathering) code(f *CodeFacts) Code {
	lane, _ := g.lanes.Lane(f.Code, g.tenant, g.now)
	code := Code{
		ID: f.Code.ID, Rotates: f.Code.Family.Rotates(), OfflineCheck: f.Code.Switches.OfflineCheck,
		Interval: lane.Interval, LastPush: f.LastPush, PerDay: perDay(&f.Counters, g.Day),
	}
	code.Fresh = code.PerDay == 0 && f.Code.CreatedAt.After(g.now.Add(-past))
	seated := map[string]bool{}
	for i := range f.Code.Members {
		m := &f.Code.Members[i]
		person, known := g.index[m.Staff]
		if known && !seated[m.Staff] {
			seated[m.Staff] = true
			code.Seats = append(code.Seats, g.seat(f, m, person))
		}
	}
	code.Reserves = append(code.Reserves, g.people(f.Code.Backups))
	if f.Code.OnEmpty == roster.TenantFallback {
		code.Reserves = append(code.Reserves, g.people(g.tenant.Fallback))
	}
	return code
}

// seat is a member's place with the limits that are switched on.
func (g *gathering) seat(f *CodeFacts, m *roster.Member, person int32) Seat {
	seat := Seat{
		Person: person, Added: f.Counters.Total[m.Staff], Today: f.Counters.Days[g.Day][m.Staff], InRound: f.Counters.InRound[m.Staff],
	}
	switches := f.Code.Switches
	if switches.AddLimit {
		seat.AddLimit = m.AddLimit
	}
	if switches.DailyLimit {
		seat.DailyLimit = m.DailyLimit
	}
	if switches.RoundLimit {
		seat.RoundLimit = m.RoundLimit
	}
	return seat
}

func (g *gathering) people(ids []string) []int32 {
	var out []int32
	for _, id := range ids {
		if person, known := g.index[id]; known {
			out = append(out, person)
		}
	}
	return out
}

// perDay is the mean of the days that are over and kept.
func perDay(c *roster.Counters, today roster.Day) float64 {
	sum, days := 0, 0
	for day, byStaff := range c.Days {
		if day >= today {
			continue
		}
		days++
		for _, n := range byStaff {
			sum += n
		}
	}
	if days == 0 {
		return 0
	}
	return float64(sum) / float64(days)
}
