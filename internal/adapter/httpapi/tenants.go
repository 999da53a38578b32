package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// tenantFacts is what a tenant's PUT takes, whole: what is left out has its zero
// value.
type tenantFacts struct {
	TimeZone        string   `json:"time_zone"`
	DailyTotal      int      `json:"daily_total"`
	Fallback        []string `json:"fallback"`
	Tier            string   `json:"tier"`
	Whitelisted     bool     `json:"whitelisted"`
	MaxRemovalShare float64  `json:"max_removal_share"`
}

type tenantBody struct {
	Tenant string      `json:"tenant"`
	Facts  tenantFacts `json:"facts"`
	State  tenantState `json:"state"`
}

type tenantState struct {
	Lane       string          `json:"lane"`
	Mode       string          `json:"mode"`
	Suspension *suspensionBody `json:"suspension,omitempty"`
	Hold       *stopBody       `json:"hold,omitempty"`
}

type suspensionBody struct {
	Since     time.Time `json:"since"`
	NextProbe time.Time `json:"next_probe"`
	Probes    int       `json:"probes"`
	Detail    string    `json:"detail"`
}

func (a *API) putTenant(ctx context.Context, r *request) (answer, error) {
	facts, err := decode[tenantFacts](r.body)
	if err != nil {
		return answer{}, err
	}
	out, err := a.o.Registry.PutTenant(ctx, registry.TenantEdit{
		Tenant:          r.tenant(),
		TimeZone:        registry.To(facts.TimeZone),
		DailyTotal:      registry.To(facts.DailyTotal),
		Fallback:        registry.To(facts.Fallback),
		Tier:            registry.To(facts.Tier),
		Whitelisted:     registry.To(facts.Whitelisted),
		MaxRemovalShare: registry.To(facts.MaxRemovalShare),
	}, "tenant_changed")
	return wrote(r, out, err)
}

func (a *API) getTenant(ctx context.Context, r *request) (answer, error) {
	tenant, err := a.tenantOf(ctx, r)
	if err != nil {
		return answer{}, err
	}
	return answered(http.StatusOK, tenantBodyOf(tenant))
}

// tenantOf reads the tenant of a route. What is no tenant's ID is unknown.
func (a *API) tenantOf(ctx context.Context, r *request) (registry.Tenant, error) {
	if registry.CheckTenantID(r.tenant()) != nil {
		return registry.Tenant{}, registry.ErrUnknownTenant
	}
	return a.o.Registry.Facts().Tenant(ctx, r.tenant())
}

func tenantBodyOf(t registry.Tenant) tenantBody {
	body := tenantBody{
		Tenant: t.ID,
		Facts: tenantFacts{
			TimeZone: t.TimeZone, DailyTotal: t.DailyTotal, Fallback: orEmpty(t.Fallback), Tier: t.Tier,
			Whitelisted: t.Whitelisted, MaxRemovalShare: t.MaxRemovalShare,
		},
		State: tenantState{Lane: laneWord(t.Lane), Mode: modeWord(t.Mode), Hold: stopBodyOf(t.Hold)},
	}
	if t.Suspension.Active() {
		s := suspensionBody(t.Suspension)
		body.State.Suspension = &s
	}
	return body
}

type laneBody struct {
	Lane string `json:"lane"`
}

func laneIn(r *request) (registry.Change[roster.LaneSwitch], error) {
	var none registry.Change[roster.LaneSwitch]
	body, err := decode[laneBody](r.body)
	if err != nil {
		return none, err
	}
	lane, err := laneOf(body.Lane)
	if err != nil {
		return none, err
	}
	return registry.To(lane), nil
}

func (a *API) putTenantLane(ctx context.Context, r *request) (answer, error) {
	lane, err := laneIn(r)
	if err != nil {
		return answer{}, err
	}
	out, err := a.o.Registry.ChangeTenant(ctx, registry.TenantEdit{Tenant: r.tenant(), Lane: lane}, "tenant_lane")
	return wrote(r, out, err)
}

type modeBody struct {
	Mode string `json:"mode"`
}

func modeIn(r *request) (registry.Change[roster.Mode], error) {
	var none registry.Change[roster.Mode]
	body, err := decode[modeBody](r.body)
	if err != nil {
		return none, err
	}
	mode, err := modeOf(body.Mode)
	if err != nil {
		return none, err
	}
	return registry.To(mode), nil
}

func (a *API) putTenantMode(ctx context.Context, r *request) (answer, error) {
	mode, err := modeIn(r)
	if err != nil {
		return answer{}, err
	}
	out, err := a.o.Registry.ChangeTenant(ctx, registry.TenantEdit{Tenant: r.tenant(), Mode: mode}, "tenant_mode")
	return wrote(r, out, err)
}

// orEmpty writes no list as an empty one.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
