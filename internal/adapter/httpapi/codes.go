package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// codeFacts is what a code's PUT takes, whole: what is left out has its zero
// value. The contact way apart: a code keeps the one it has.
type codeFacts struct {
	ConfigID   string       `json:"config_id,omitempty"`
	ContactWay *wayBody     `json:"contact_way,omitempty"`
	Family     string       `json:"family"`
	Members    []memberBody `json:"members"`
	Backups    []string     `json:"backups"`
	Switches   switchesBody `json:"switches"`
	OnEmpty    string       `json:"on_empty"`
	Remark     string       `json:"remark"`
	State      string       `json:"state"`
	SkipVerify bool         `json:"skip_verify"`
}

// wayBody asks for a contact way to be made.
type wayBody struct {
	Create bool `json:"create"`
}

type memberBody struct {
	Staff      string `json:"staff"`
	AddLimit   int    `json:"add_limit,omitempty"`
	DailyLimit int    `json:"daily_limit,omitempty"`
	RoundLimit int    `json:"round_limit,omitempty"`
}

type switchesBody struct {
	OfflineCheck bool `json:"offline_check"`
	AddLimit     bool `json:"add_limit"`
	DailyLimit   bool `json:"daily_limit"`
	RoundLimit   bool `json:"round_limit"`
}

type codeBody struct {
	Code  string    `json:"code"`
	Facts codeFacts `json:"facts"`
	State codeState `json:"state"`
}

type codeState struct {
	QRCode    string     `json:"qr_code,omitempty"`
	Lane      string     `json:"lane"`
	Mode      string     `json:"mode"`
	Revision  int64      `json:"revision"`
	CreatedAt *time.Time `json:"created_at,omitempty"`
	UpdatedAt *time.Time `json:"updated_at,omitempty"`
	Retired   bool       `json:"retired"`
	RetiredAt *time.Time `json:"retired_at,omitempty"`
	Hold      *stopBody  `json:"hold,omitempty"`
}

func (f codeFacts) edit(id string) registry.CodeEdit {
	members := make([]roster.Member, 0, len(f.Members))
	for _, m := range f.Members {
		members = append(members, roster.Member(m))
	}
	return registry.CodeEdit{
		Code:       id,
		Family:     registry.To(roster.Family(f.Family)),
		Members:    registry.To(members),
		Backups:    registry.To(f.Backups),
		Switches:   registry.To(roster.Switches(f.Switches)),
		OnEmpty:    registry.To(roster.EmptyPolicy(f.OnEmpty)),
		Remark:     registry.To(f.Remark),
		State:      registry.To(f.State),
		SkipVerify: registry.To(f.SkipVerify),
	}
}

func (f codeFacts) way() registry.Way {
	return registry.Way{Adopt: f.ConfigID, Create: f.ContactWay != nil && f.ContactWay.Create}
}

func codeBodyOf(c registry.Code) codeBody {
	members := make([]memberBody, 0, len(c.Members))
	for _, m := range c.Members {
		members = append(members, memberBody(m))
	}
	onEmpty := c.OnEmpty
	if onEmpty == "" {
		onEmpty = roster.KeepLast
	}
	return codeBody{
		Code: c.ID,
		Facts: codeFacts{
			ConfigID: c.ConfigID, Family: string(c.Family), Members: members, Backups: orEmpty(c.Backups),
			Switches: switchesBody(c.Switches), OnEmpty: string(onEmpty), Remark: c.Remark, State: c.State,
			SkipVerify: c.SkipVerify,
		},
		State: codeState{
			QRCode: c.QRCode, Lane: laneWord(c.Lane), Mode: modeWord(c.Mode), Revision: c.Revision, CreatedAt: instant(c.CreatedAt),
			UpdatedAt: instant(c.UpdatedAt), Retired: c.Deleted, RetiredAt: instant(c.DeletedAt), Hold: stopBodyOf(c.Hold),
		},
	}
}

// instant leaves an unknown one out.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (a *API) putCode(ctx context.Context, r *request) (answer, error) {
	facts, err := decode[codeFacts](r.body)
	if err != nil {
		return answer{}, err
	}
	out, err := a.o.Registry.PutCode(ctx, r.tenant(), facts.edit(r.PathValue("code")), facts.way(), "code_changed")
	return wrote(r, out, err)
}

func (a *API) getCode(ctx context.Context, r *request) (answer, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	id := r.PathValue("code")
	known, err := a.o.Registry.Facts().CodesOf(ctx, r.tenant(), []string{id})
	if err != nil {
		return answer{}, err
	}
	code, there := known[id]
	if !there {
		return answer{}, registry.ErrUnknownCode
	}
	return answered(http.StatusOK, codeBodyOf(code))
}

func (a *API) listCodes(ctx context.Context, r *request) (answer, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	return listed(r, func(page registry.Page) ([]registry.Code, error) {
		return a.o.Registry.Facts().ListCodes(ctx, r.tenant(), page)
	}, codeBodyOf, func(c registry.Code) string { return c.ID })
}

// deleteCode retires a code: nothing is kept true any more. The contact way
// stays at WeCom with the list that it has.
func (a *API) deleteCode(ctx context.Context, r *request) (answer, error) {
	return a.changeCode(ctx, r, registry.CodeEdit{Deleted: registry.To(true)}, "code_retired")
}

func (a *API) putSwitches(ctx context.Context, r *request) (answer, error) {
	body, err := decode[switchesBody](r.body)
	if err != nil {
		return answer{}, err
	}
	return a.changeCode(ctx, r, registry.CodeEdit{Switches: registry.To(roster.Switches(body))}, "code_switches")
}

func (a *API) putCodeLane(ctx context.Context, r *request) (answer, error) {
	lane, err := laneIn(r)
	if err != nil {
		return answer{}, err
	}
	return a.changeCode(ctx, r, registry.CodeEdit{Lane: lane}, "code_lane")
}

func (a *API) putCodeMode(ctx context.Context, r *request) (answer, error) {
	mode, err := modeIn(r)
	if err != nil {
		return answer{}, err
	}
	return a.changeCode(ctx, r, registry.CodeEdit{Mode: mode}, "code_mode")
}

func (a *API) changeCode(ctx context.Context, r *request, edit registry.CodeEdit, why string) (answer, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	edit.Code = r.PathValue("code")
	out, err := a.o.Registry.ChangeCode(ctx, r.tenant(), edit, why)
	return wrote(r, out, err)
}
