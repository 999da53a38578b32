package registry

import (
	"context"
	"maps"
	"slices"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// PutStaff changes a staff member of a tenant, and makes one that is not there.
// Every code that may list him is recomputed.
func (r *Registry) PutStaff(ctx context.Context, tenant string, edit StaffEdit, why string) (Outcome, error) {
	if err := r.requireTenant(ctx, tenant); err != nil {
		return Outcome{}, err
	}
	if err := CheckStaffID(edit.Staff); err != nil {
		return Outcome{}, err
	}
	before, there, err := r.staffMember(ctx, tenant, edit.Staff)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Created: !there, Published: Nowhere}
	return r.editStaff(ctx, out, tenant, before, edit, why, r.putOne)
}

// ChangeStaff is PutStaff of one who is there; ErrUnknownStaff.
func (r *Registry) ChangeStaff(ctx context.Context, tenant string, edit StaffEdit, why string) (Outcome, error) {
	before, there, err := r.staffMember(ctx, tenant, edit.Staff)
	if err != nil {
		return Outcome{}, err
	}
	if !there {
		return Outcome{}, ErrUnknownStaff
	}
	out := Outcome{Published: Nowhere}
	return r.editStaff(ctx, out, tenant, before, edit, why, r.o.Facts.ChangeStaff)
}

func (r *Registry) staffMember(ctx context.Context, tenant, id string) (member Staff, there bool, err error) {
	known, err := r.o.Facts.StaffOf(ctx, tenant, []string{id})
	member, there = known[id]
	return member, there, err
}

type staffWrite func(ctx context.Context, tenant string, edit StaffEdit, stamp string) error

func (r *Registry) putOne(ctx context.Context, tenant string, edit StaffEdit, stamp string) error {
	return r.o.Facts.EditStaff(ctx, tenant, []StaffEdit{edit}, stamp)
}

func (r *Registry) editStaff(ctx context.Context, out Outcome, tenant string, before Staff, edit StaffEdit, why string, write staffWrite) (Outcome, error) {
	after := edit.Of(before.Staff)
	if err := checkStaff(after); err != nil {
		return Outcome{}, err
	}
	out.Changed = out.Created || !sameStaff(before.Staff, after)
	if !out.Changed && before.Unannounced == "" {
		return out, nil
	}
	stamp := r.newStamp()
	if err := write(ctx, tenant, edit, stamp); err != nil {
		return Outcome{}, err
	}
	ticket, err := r.fanOut(ctx, fanout.Scope{Tenant: tenant, Staff: edit.Staff}, why, stamp)
	if err != nil {
		return Outcome{}, err
	}
	// If this fails the next write announces once more than it needs to.
	_ = r.o.Facts.StaffAnnounced(ctx, tenant, []string{edit.Staff}, stamp)
	out.Published, out.FanOut = ByFanOut, ticket
	return out, nil
}

func sameStaff(a, b roster.Staff) bool {
	return a.Resigned == b.Resigned && a.Presence == b.Presence && a.QuarantinedUntil.Equal(b.QuarantinedUntil) && a.Off == b.Off &&
		sameSchedule(a.Schedule, b.Schedule)
}

func sameSchedule(a, b *roster.Schedule) bool {
	if a == nil || b == nil {
		return a == b
	}
	for i := range a.Weekly {
		if !slices.Equal(a.Weekly[i], b.Weekly[i]) {
			return false
		}
	}
	return a.TimeZone == b.TimeZone && maps.EqualFunc(a.Special, b.Special, slices.Equal[[]roster.Shift])
}
