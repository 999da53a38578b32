package registry

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// PutTenant changes a tenant, and makes one that is not there. Every code of
// the tenant is recomputed.
func (r *Registry) PutTenant(ctx context.Context, edit TenantEdit, why string) (Outcome, error) {
	before, err := r.o.Facts.Tenant(ctx, edit.Tenant)
	if err != nil && !errors.Is(err, ErrUnknownTenant) {
		return Outcome{}, err
	}
	out := Outcome{Created: err != nil, Published: Nowhere}
	edit.Mode = switchOf(before.Mode, edit.Mode)
	after := edit.Of(before.Tenant)
	if err := checkTenant(after); err != nil {
		return Outcome{}, err
	}
	out.Changed = out.Created || !sameTenant(before.Tenant, after)
	if !out.Changed && before.Unannounced == "" {
		return out, nil
	}
	stamp := r.newStamp()
	if err := r.o.Facts.EditTenant(ctx, edit, stamp); err != nil {
		return Outcome{}, err
	}
	return r.tenantFanOut(ctx, out, edit.Tenant, why, stamp)
}

// switchOf is a change of a tenant's mode, unless he has that mode already: a new
// term makes all that is known of WeCom's lists worthless.
func switchOf(before roster.Mode, edit Change[roster.Mode]) Change[roster.Mode] {
	if after, given := edit.Value(); given && modeOf(after) == modeOf(before) {
		return Change[roster.Mode]{}
	}
	return edit
}

// modeOf is a tenant's mode: he inherits none.
func modeOf(mode roster.Mode) roster.Mode { return cmp.Or(mode, roster.Live) }

// ChangeTenant is PutTenant of one that is there; ErrUnknownTenant.
func (r *Registry) ChangeTenant(ctx context.Context, edit TenantEdit, why string) (Outcome, error) {
	if err := r.requireTenant(ctx, edit.Tenant); err != nil {
		return Outcome{}, err
	}
	return r.PutTenant(ctx, edit, why)
}

// Recompute has every code of a scope recomputed, for a reason that is not a
// fact of roster's.
func (r *Registry) Recompute(ctx context.Context, scope fanout.Scope, why string) (Outcome, error) {
	ticket, err := r.fanOut(ctx, scope, why, r.newStamp())
	return Outcome{Published: ByFanOut, FanOut: ticket}, err
}

func (r *Registry) tenantFanOut(ctx context.Context, out Outcome, tenant, why, stamp string) (Outcome, error) {
	ticket, err := r.fanOut(ctx, fanout.Scope{Tenant: tenant}, why, stamp)
	if err != nil {
		return Outcome{}, err
	}
	// If this fails the next write announces once more than it needs to.
	_ = r.o.Facts.TenantAnnounced(ctx, tenant, stamp)
	out.Published, out.FanOut = ByFanOut, ticket
	return out, nil
}

func sameTenant(a, b roster.Tenant) bool {
	return zoneOf(a) == zoneOf(b) && a.DailyTotal == b.DailyTotal && slices.Equal(a.Fallback, b.Fallback) && a.Tier == b.Tier &&
		a.Whitelisted == b.Whitelisted && a.Lane == b.Lane && a.Mode == b.Mode && a.MaxRemovalShare == b.MaxRemovalShare && a.Hold == b.Hold
}

// zoneOf returns the zone's name, the default's included.
func zoneOf(t roster.Tenant) string { return cmp.Or(t.TimeZone, "Asia/Shanghai") }
