package console

import (
	"context"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
)

// How many codes of a staff member are explained, and how many at once.
const (
	codesOfStaff = 25
	explainAtOne = 5
)

// staffBody is what a staff member's page shows.
type staffBody struct {
	Tenant, ID string
	There      bool
	Staff      registry.Staff
	Stops      []stopped
	Acts       []act
	Codes      []onCode
	More       string
}

// onCode is a staff member on one code.
type onCode struct {
	Code string
	Away bool // the code could not be explained
	explain.Line
	Wait *explain.Wait // what is in the way, the longest; nil: nothing
}

// Differs reports one who is on the pushed list and should not be, or the other
// way round.
func (o onCode) Differs() bool { return o.Listed != o.Pushed }

func (c *Console) getStaff(v *visit) error {
	ctx, cancel := v.timed()
	defer cancel()
	tenantID, err := v.within()
	if err != nil {
		return err
	}
	id := v.URL.Query().Get("id")
	if id == "" || len(id) > ident.MaxStaff || registry.CheckStaffID(id) != nil {
		return notFound
	}
	tenant, err := c.Facts.Tenant(ctx, tenantID)
	if err != nil {
		return err
	}
	people, err := c.Facts.StaffOf(ctx, tenantID, []string{id})
	if err != nil {
		return err
	}
	body := staffBody{Tenant: tenantID, ID: id}
	body.Staff, body.There = people[id]
	codes, err := c.Facts.ListCodesOf(ctx, tenant.Tenant, id, registry.Page{After: v.param("after"), Limit: codesOfStaff + 1})
	if err != nil {
		return err
	}
	if !body.There && len(codes) == 0 && v.param("after") == "" {
		return notFound
	}
	body.stops(v)
	codes, more := cut(codes, codesOfStaff)
	if more {
		body.More = query(tenantURL(tenantID)+"/staff", "id", id, "after", codes[len(codes)-1].ID)
	}
	body.Codes = c.onCodes(ctx, tenantID, id, codes)
	return c.show(v, http.StatusOK, "staff", page{Title: "kind.staff", Named: id, Zone: zoneOf(tenant.Tenant)}, body)
}

func (b *staffBody) stops(v *visit) {
	b.Stops = stopOf("stop.off", b.Staff.Off, v.now)
	if until := b.Staff.QuarantinedUntil; until.After(v.now) {
		b.Stops = append(b.Stops, stopped{Words: "stop.quarantine", Until: until, Detail: b.Staff.QuarantinedWhy})
	}
	if b.There {
		b.Acts = v.acts(intervene.Subject{Kind: intervene.Staff, Tenant: b.Tenant, ID: b.ID}, offered(ordersOfStaff, len(b.Stops)))
	}
}

// onCodes explains codes; one that cannot be explained takes no other with it.
func (c *Console) onCodes(ctx context.Context, tenant, staff string, codes []registry.Code) []onCode {
	all := make([]onCode, len(codes))
	var group errgroup.Group
	group.SetLimit(explainAtOne)
	for i, code := range codes {
		group.Go(func() error {
			all[i] = c.onCode(ctx, push.Ref{Tenant: tenant, Code: code.ID}, staff)
			return nil
		})
	}
	_ = group.Wait() // its functions return nil
	return all
}

func (c *Console) onCode(ctx context.Context, ref push.Ref, staff string) onCode {
	on := onCode{Code: ref.Code}
	x, err := c.Explainer.Explain(ctx, ref, false)
	if err != nil {
		on.Away = true
		return on
	}
	on.Line, _ = x.Of(staff)
	if len(x.Waits) > 0 {
		on.Wait = &x.Waits[0]
	}
	return on
}
