package registry

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Way says where a code's contact way comes from. The zero Way is the one that
// the code has.
type Way struct {
	Create bool   // make it at WeCom
	Adopt  string // take the one of this config_id
}

// PutCode changes a code of a tenant, and makes one that is not there. A new
// code needs a Way. The code is recomputed.
func (r *Registry) PutCode(ctx context.Context, tenant string, edit CodeEdit, way Way, why string) (Outcome, error) {
	if err := r.requireTenant(ctx, tenant); err != nil {
		return Outcome{}, err
	}
	if err := CheckCodeID(edit.Code); err != nil {
		return Outcome{}, err
	}
	before, there, err := r.code(ctx, tenant, edit.Code)
	if err != nil {
		return Outcome{}, err
	}
	if err := checkWay(before, way); err != nil {
		return Outcome{}, err
	}
	edit.Deleted = To(false)
	if before.Deleted {
		edit.ConfigID = To("") // of the contact way that is gone
	}
	after := edit.Of(before.Code)
	if err := checkCode(after); err != nil {
		return Outcome{}, err
	}
	out := Outcome{Created: !there, Changed: !there || !sameCode(before.Code, after)}
	if out.Changed {
		if err := r.putCode(ctx, tenant, edit); err != nil {
			return Outcome{}, err
		}
	}
	return r.finishCode(ctx, out, push.Ref{Tenant: tenant, Code: edit.Code}, after, way, why)
}

// ChangeCode changes a code that is there; ErrUnknownCode. It is recomputed.
func (r *Registry) ChangeCode(ctx context.Context, tenant string, edit CodeEdit, why string) (Outcome, error) {
	before, there, err := r.code(ctx, tenant, edit.Code)
	if err != nil {
		return Outcome{}, err
	}
	if !there {
		return Outcome{}, ErrUnknownCode
	}
	after := edit.Of(before.Code)
	if err := checkCode(after); err != nil {
		return Outcome{}, err
	}
	out := Outcome{Changed: !sameCode(before.Code, after)}
	if out.Changed {
		if err := r.o.Facts.ChangeCode(ctx, tenant, edit); err != nil {
			return Outcome{}, err
		}
	}
	return r.finishCode(ctx, out, push.Ref{Tenant: tenant, Code: edit.Code}, after, Way{}, why)
}

func (r *Registry) code(ctx context.Context, tenant, id string) (code Code, there bool, err error) {
	known, err := r.o.Facts.CodesOf(ctx, tenant, []string{id})
	code, there = known[id]
	return code, there, err
}

// checkWay refuses a way that contradicts the code as it is.
func checkWay(before Code, way Way) error {
	has := before.ConfigID
	if before.Deleted {
		has = "" // WeCom does not know it any more, or nobody wants it
	}
	switch {
	case way.Create && way.Adopt != "":
		return invalid("config_id", way.Adopt, "either a config_id or contact_way.create, not both")
	case has != "" && way.Adopt != "" && way.Adopt != has:
		return invalid("config_id", way.Adopt, "the code's own, "+has+": its contact way cannot be exchanged for another")
	case has == "" && before.ID == "" && !way.Create && way.Adopt == "":
		return invalid("config_id", "", "a config_id to adopt, or contact_way.create")
	case before.Deleted && !way.Create && way.Adopt == "":
		return invalid("config_id", "", "a config_id to adopt, or contact_way.create: the code was retired")
	}
	return nil
}

func (r *Registry) putCode(ctx context.Context, tenant string, edit CodeEdit) error {
	taken, err := r.o.Facts.PutCodes(ctx, tenant, []CodeEdit{edit})
	if err == nil && len(taken) > 0 {
		err = ErrTaken
	}
	return err
}

// finishCode gives a code its contact way and announces it. A code without one
// cannot be pushed, so nobody is told of it: that follows when it has one.
func (r *Registry) finishCode(ctx context.Context, out Outcome, ref push.Ref, code roster.Code, way Way, why string) (Outcome, error) {
	if code.ConfigID == "" && !code.Deleted {
		made, err := r.makeWay(ctx, ref, way)
		if !made || err != nil {
			out.Published = Nowhere
			out.WayPending = errors.Is(err, ErrWayPending)
			if out.WayPending {
				err = nil
			}
			return out, err
		}
		out.Changed = true
	}
	place, err := r.announceCode(ctx, ref, why)
	if err != nil {
		return Outcome{}, err
	}
	out.Published = place
	return out, nil
}

// makeWay gives a code the contact way that the request asks for, and reports
// whether it has one now.
func (r *Registry) makeWay(ctx context.Context, ref push.Ref, way Way) (bool, error) {
	switch {
	case way.Adopt != "":
		return true, r.o.Ways.Adopt(ctx, ref, way.Adopt)
	case way.Create:
		return true, r.o.Ways.Create(ctx, ref)
	}
	return false, nil
}

// RecomputeCode is Recompute of one code.
func (r *Registry) RecomputeCode(ctx context.Context, ref push.Ref, why string) (Outcome, error) {
	place, err := r.announceCode(ctx, ref, why)
	return Outcome{Published: place}, err
}

func sameCode(a, b roster.Code) bool {
	policy := func(c roster.Code) roster.EmptyPolicy { return cmp.Or(c.OnEmpty, roster.KeepLast) }
	return a.ConfigID == b.ConfigID && a.Family == b.Family && slices.Equal(a.Members, b.Members) &&
		slices.Equal(a.Backups, b.Backups) && a.Switches == b.Switches && policy(a) == policy(b) && a.Lane == b.Lane && a.Mode == b.Mode &&
		a.Remark == b.Remark && a.State == b.State && a.SkipVerify == b.SkipVerify && a.Deleted == b.Deleted
}
