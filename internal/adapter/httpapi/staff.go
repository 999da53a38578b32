package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// staffFacts is what the PUT of a staff member takes. Without a schedule he is
// always on duty. Presence and resigned have routes of their own and stay when
// they are left out, so that a nightly list from elsewhere does not undo them.
type staffFacts struct {
	Schedule *scheduleBody `json:"schedule"`
	Presence *string       `json:"presence,omitempty"`
	Resigned *bool         `json:"resigned,omitempty"`
}

type staffBody struct {
	Staff string     `json:"staff"`
	Facts staffFacts `json:"facts"`
	State staffState `json:"state"`
}

type staffState struct {
	QuarantinedUntil *time.Time `json:"quarantined_until,omitempty"`
	QuarantinedWhy   string     `json:"quarantined_why,omitempty"`
	TakenOff         *stopBody  `json:"taken_off,omitempty"`
	RemovedOn        string     `json:"removed_on,omitempty"`
}

func (f staffFacts) edit(id string) (registry.StaffEdit, error) {
	schedule, err := f.Schedule.schedule()
	if err != nil {
		return registry.StaffEdit{}, err
	}
	edit := registry.StaffEdit{Staff: id, Schedule: registry.To(schedule)}
	if f.Presence != nil {
		presence, err := presenceOf(*f.Presence)
		if err != nil {
			return registry.StaffEdit{}, err
		}
		edit.Presence = registry.To(presence)
	}
	if f.Resigned != nil {
		edit.Resigned = registry.To(*f.Resigned)
	}
	return edit, nil
}

func staffBodyOf(s registry.Staff) staffBody {
	presence := presenceWord(s.Presence)
	body := staffBody{
		Staff: s.ID,
		Facts: staffFacts{Schedule: scheduleBodyOf(s.Schedule), Presence: &presence, Resigned: &s.Resigned},
		State: staffState{TakenOff: stopBodyOf(s.Off), RemovedOn: string(s.RemovedOn)},
	}
	if !s.QuarantinedUntil.IsZero() {
		body.State.QuarantinedUntil, body.State.QuarantinedWhy = &s.QuarantinedUntil, s.QuarantinedWhy
	}
	return body
}

func (a *API) putStaff(ctx context.Context, r *request) (answer, error) {
	facts, err := decode[staffFacts](r.body)
	if err != nil {
		return answer{}, err
	}
	edit, err := facts.edit(r.PathValue("staff"))
	if err != nil {
		return answer{}, err
	}
	out, err := a.o.Registry.PutStaff(ctx, r.tenant(), edit, "staff_changed")
	return wrote(r, out, err)
}

func (a *API) getStaff(ctx context.Context, r *request) (answer, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	id := r.PathValue("staff")
	known, err := a.o.Registry.Facts().StaffOf(ctx, r.tenant(), []string{id})
	if err != nil {
		return answer{}, err
	}
	member, there := known[id]
	if !there {
		return answer{}, registry.ErrUnknownStaff
	}
	return answered(http.StatusOK, staffBodyOf(member))
}

func (a *API) listStaff(ctx context.Context, r *request) (answer, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	return listed(r, func(page registry.Page) ([]registry.Staff, error) {
		return a.o.Registry.Facts().ListStaff(ctx, r.tenant(), page)
	}, staffBodyOf, func(s registry.Staff) string { return s.ID })
}

func (a *API) listCodesOfStaff(ctx context.Context, r *request) (answer, error) {
	tenant, err := a.tenantOf(ctx, r)
	if err != nil {
		return answer{}, err
	}
	return listed(r, func(page registry.Page) ([]registry.Code, error) {
		return a.o.Registry.Facts().ListCodesOf(ctx, tenant.Tenant, r.PathValue("staff"), page)
	}, codeBodyOf, func(c registry.Code) string { return c.ID })
}

type presenceBody struct {
	Presence string `json:"presence"`
}

func (a *API) putPresence(ctx context.Context, r *request) (answer, error) {
	body, err := decode[presenceBody](r.body)
	if err != nil {
		return answer{}, err
	}
	presence, err := presenceOf(body.Presence)
	if err != nil {
		return answer{}, err
	}
	why := map[roster.Presence]string{roster.Online: "staff_online", roster.OfflineNow: "staff_offline"}[presence]
	if why == "" {
		why = "staff_by_schedule"
	}
	return a.changeStaff(ctx, r, registry.StaffEdit{Presence: registry.To(presence)}, why)
}

// scheduleIn tells a schedule that is left out from none at all, which is null.
type scheduleIn struct {
	Schedule json.RawMessage `json:"schedule"`
}

func (in scheduleIn) schedule() (*roster.Schedule, error) {
	switch string(in.Schedule) {
	case "":
		return nil, &roster.InvalidError{Field: "schedule", Want: "a schedule, or null for none"}
	case "null":
		return nil, nil
	}
	body, err := decode[scheduleBody](in.Schedule)
	if err != nil {
		return nil, err
	}
	return body.schedule()
}

func (a *API) putSchedule(ctx context.Context, r *request) (answer, error) {
	body, err := decode[scheduleIn](r.body)
	if err != nil {
		return answer{}, err
	}
	schedule, err := body.schedule()
	if err != nil {
		return answer{}, err
	}
	return a.changeStaff(ctx, r, registry.StaffEdit{Schedule: registry.To(schedule)}, "staff_schedule")
}

type resignedBody struct {
	Resigned *bool `json:"resigned"`
}

func (a *API) putResigned(ctx context.Context, r *request) (answer, error) {
	body, err := decode[resignedBody](r.body)
	if err != nil {
		return answer{}, err
	}
	if body.Resigned == nil {
		return answer{}, &roster.InvalidError{Field: "resigned", Want: "true or false"}
	}
	why := "staff_returned"
	if *body.Resigned {
		why = "staff_resigned"
	}
	return a.changeStaff(ctx, r, registry.StaffEdit{Resigned: registry.To(*body.Resigned)}, why)
}

func (a *API) deleteQuarantine(ctx context.Context, r *request) (answer, error) {
	return a.changeStaff(ctx, r, registry.StaffEdit{Readmit: true}, "staff_readmitted")
}

func (a *API) changeStaff(ctx context.Context, r *request, edit registry.StaffEdit, why string) (answer, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	edit.Staff = r.PathValue("staff")
	out, err := a.o.Registry.ChangeStaff(ctx, r.tenant(), edit, why)
	return wrote(r, out, err)
}
