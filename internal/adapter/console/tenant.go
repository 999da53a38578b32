package console

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// How many rows a page has.
const (
	codesOnPage  = 50
	dirtyOnPage  = 50
	jobsOnPage   = 50
	someOfTenant = 10 // of each other list on a tenant's page
)

// stopped is something that a person, or WeCom, has stopped.
type stopped struct {
	Words        string
	Since, Until time.Time
	Detail       string
}

// tenantBody is what a tenant's page shows.
type tenantBody struct {
	Tenant    registry.Tenant
	Mode      roster.Mode
	Lane      roster.LaneSwitch
	Stops     []stopped
	Acts      []act
	Span      string
	Plot      *plot
	Minutes   []board.Minute
	UseAway   string
	Dirty     []DirtyCode
	MoreDirty bool
	FanOuts   []fanout.Job
	Codes     []registry.Code
	MoreCodes string
}

func tenantURL(tenant string) string { return root + "tenants/" + url.PathEscape(tenant) }

func (c *Console) getTenant(v *visit) error {
	ctx, cancel := v.timed()
	defer cancel()
	id, err := v.within()
	if err != nil {
		return err
	}
	tenant, err := c.Facts.Tenant(ctx, id)
	if err != nil {
		return err
	}
	body := tenantBody{Tenant: tenant, Mode: cmp.Or(tenant.Mode, roster.Live), Lane: tenant.Lane, Stops: tenantStops(tenant, v.now)}
	body.Acts = v.acts(intervene.Subject{Kind: intervene.Tenant, Tenant: id}, offered(ordersOfList, len(body.Stops)))
	zone := zoneOf(tenant.Tenant)
	if err := c.fillTenant(ctx, v, &body); err != nil {
		return err
	}
	c.fillUse(ctx, v, zone, &body)
	return c.show(v, http.StatusOK, "tenant", page{Title: "kind.tenant", Named: id, Nav: "tenant", Zone: zone}, body)
}

func (c *Console) fillTenant(ctx context.Context, v *visit, body *tenantBody) (err error) {
	id := body.Tenant.ID
	if body.Dirty, err = c.Dirty.List(ctx, DirtyFilter{Tenant: id}, push.Ref{}, someOfTenant+1); err != nil {
		return err
	}
	body.Dirty, body.MoreDirty = cut(body.Dirty, someOfTenant)
	if body.FanOuts, err = c.FanOuts.List(ctx, id, "", someOfTenant); err != nil {
		return err
	}
	codes, err := c.Facts.ListCodes(ctx, id, registry.Page{After: v.param("after"), Limit: codesOnPage + 1})
	if err != nil {
		return err
	}
	var more bool
	if body.Codes, more = cut(codes, codesOnPage); more {
		body.MoreCodes = query(tenantURL(id), "after", body.Codes[codesOnPage-1].ID) + "#codes"
	}
	return nil
}

// fillUse reads the budget's past; a page without it is better than none.
func (c *Console) fillUse(ctx context.Context, v *visit, zone *time.Location, body *tenantBody) {
	body.Span = "1h"
	span := time.Hour
	if v.FormValue("span") == "24h" {
		body.Span, span = "24h", 24*time.Hour
	}
	minutes, err := c.Board.Use(ctx, body.Tenant.ID, v.now.Add(-span).Truncate(time.Minute))
	if err != nil {
		body.UseAway = v.cause(err)
		return
	}
	use := use{Now: v.now, Span: span, Zone: zone, Lang: v.look.lang}
	if view, err := c.looked.Get(ctx); err == nil && view.Budget != nil {
		use.Limit = view.Budget.MinuteLimit
	}
	body.Minutes = use.gathered(minutes)
	body.Plot = use.plot(minutes)
}

// tenantStops are a tenant's hold and suspension.
func tenantStops(t registry.Tenant, now time.Time) []stopped {
	var all []stopped
	if s := t.Suspension; s.Active() {
		all = append(all, stopped{Words: "stop.suspension", Since: s.Since, Until: s.NextProbe, Detail: s.Detail})
	}
	return append(all, stopOf("stop.hold", t.Hold, now)...)
}

func stopOf(words string, s roster.Stop, now time.Time) []stopped {
	if !s.Active(now) {
		return nil
	}
	return []stopped{{Words: words, Since: s.Since, Until: s.Until, Detail: s.By + ": " + s.Why}}
}

// zoneOf is a tenant's time zone, in which his pages show times.
func zoneOf(t roster.Tenant) *time.Location {
	zone, err := t.Location()
	if err != nil {
		return time.UTC
	}
	return zone
}

// cut keeps the first so many, and reports whether there were more.
func cut[T any](all []T, most int) ([]T, bool) {
	if len(all) > most {
		return all[:most], true
	}
	return all, false
}

// maxParam is the most bytes of a parameter.
const maxParam = 200

// param returns a parameter of the address, or nothing where it is too long.
func (v *visit) param(name string) string {
	text := v.URL.Query().Get(name)
	if len(text) > maxParam {
		return ""
	}
	return text
}

// cause is what a person is told of an error: all of it only whoever reaches all
// tenants, since it may name what is others'.
func (v *visit) cause(err error) string {
	if v.grant.Tenant != "" && !errors.Is(err, ErrUnset) {
		return v.look.lang.say("error.away")
	}
	return err.Error()
}
