package service

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Planner computes what days cost, on a connection of its own. It reads facts
// and writes nothing.
type Planner struct {
	cfg config.Config
	db  *mongostore.Database
}

// OpenPlanner prepares the connection; the server may be away. The caller closes
// it.
func OpenPlanner(cfg config.Config) (*Planner, error) {
	db, err := openMongo(cfg, "operator")
	if err != nil {
		return nil, err
	}
	return &Planner{cfg: cfg, db: db}, nil
}

// Close ends the connection.
func (p *Planner) Close(ctx context.Context) error { return p.db.Close(ctx) }

// PlanFleet is how many processes there are.
type PlanFleet struct {
	Ingresses  int // at least 1
	Refreshers int // at least 1
}

// planPushTime is what a push takes: WeCom's 150 ms, MongoDB and Redis
// (docs/operations/sizing.md).
const planPushTime = 200 * time.Millisecond

// Gather reads a tenant as it is, and what a plan of it rests on. Campaign is left
// to the caller. One that is not there is plan.ErrUnknownTenant.
func (p *Planner) Gather(ctx context.Context, tenant string, fleet PlanFleet) (plan.Input, error) {
	known, err := p.db.Planning().Tenant(ctx, tenant)
	if err != nil {
		return plan.Input{}, err
	}
	return p.gather(ctx, known, fleet)
}

func (p *Planner) gather(ctx context.Context, tenant roster.Tenant, fleet PlanFleet) (plan.Input, error) {
	company, err := plan.Gather(ctx, p.db.Planning(), tenant, laneRules(p.cfg), time.Now())
	if err != nil {
		return plan.Input{}, err
	}
	return plan.Input{
		Company: company,
		Budget:  planBudget(p.cfg.Budget),
		Releasing: plan.Releasing{
			Ingresses: fleet.Ingresses, Burst: p.cfg.Ingress.FanOutBurst, Jobs: fanOutsOfOne, Poll: fanOutPoll, Saved: keeperSaves,
		},
		Refreshing: plan.Refreshing{
			InFlight: fleet.Refreshers * p.cfg.Refresher.TenantInFlight, PushTime: planPushTime, ParkAfter: p.cfg.Refresher.ParkAfter,
		},
		SlowInterval: p.cfg.Lane.SlowInterval,
	}, nil
}

// keeperSaves is for how long the keeper saves up a tenant's pace.
const keeperSaves = 2 * time.Second

func planBudget(b config.Budget) plan.Budget {
	return plan.Budget{
		Tenant:      []plan.Window{{Calls: b.TenantPerMinute, Per: b.Minute}, {Calls: b.TenantPerHour, Per: b.Hour}},
		Address:     []plan.Window{{Calls: b.IPPerMinute, Per: b.Minute}, {Calls: b.IPPerHour, Per: b.Hour}},
		TenantBurst: b.TenantBurst, AddressBurst: b.IPBurst, Instances: b.Instances, Delay: b.Delay, RemovalShare: b.RemovalShare,
	}
}

// Each gathers all tenants, one at a time, until mostCodes codes have been read.
// It reports how many tenants it gave to use, and whether that were all of them.
func (p *Planner) Each(ctx context.Context, fleet PlanFleet, mostCodes int, use func(plan.Input) error) (tenants int, all bool, err error) {
	codes, after := 0, ""
	for {
		page, err := p.db.Planning().TenantsAfter(ctx, after, listPage)
		if err != nil {
			return tenants, false, err
		}
		for _, tenant := range page {
			if codes >= mostCodes {
				return tenants, false, nil
			}
			in, err := p.gather(ctx, tenant, fleet)
			if err == nil {
				err = use(in)
			}
			if err != nil {
				return tenants, false, err
			}
			after, codes, tenants = tenant.ID, codes+len(in.Company.Codes), tenants+1
		}
		if len(page) < listPage {
			return tenants, true, nil
		}
	}
}
