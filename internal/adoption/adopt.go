package adoption

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// end is what became of one contact way.
type end struct {
	imported bool
	held     bool
	why      Why
	detail   string
}

// adoptRow goes through what is left of the job's row.
func (r *run) adoptRow(ctx context.Context) error {
	row, err := r.rowOf(ctx, r.job.Row)
	if err != nil {
		return err
	}
	row.Left = settled(row, r.job)
	r.row = &row
	holders, err := r.holders(ctx, row.IDs[r.job.At:]...)
	if err != nil {
		return err
	}
	for r.job.At < len(row.IDs) {
		id := row.IDs[r.job.At]
		end, err := r.one(ctx, id, holders[id])
		if err != nil {
			return fmt.Errorf("contact way %s: %w", id, err)
		}
		if err := r.count(ctx, id, end); err != nil {
			return err
		}
	}
	if err := r.saveRow(ctx); err != nil {
		return err
	}
	r.job.Row, r.job.At, r.row = r.job.Row+1, 0, nil
	return r.save(ctx)
}

// count notes what became of a contact way, and writes it with others.
func (r *run) count(ctx context.Context, id string, end end) error {
	switch {
	case end.imported:
		r.job.Imported++
	case end.held:
		r.job.Held++
	default:
		r.row.Left = append(r.row.Left, Left{At: r.job.At, ConfigID: id, Why: end.why, Detail: end.detail})
		r.job.leave(end.why)
	}
	r.job.Done++
	r.job.At++
	r.unsaved++
	r.Observer.Progressed(r.job.Copy())
	if r.unsaved < r.opts.Batch {
		return nil
	}
	return r.save(ctx)
}

// one makes a code of a contact way, unless one has it.
func (r *run) one(ctx context.Context, id string, holder Holder) (end, error) {
	if err := r.renew(ctx); err != nil {
		return end{}, err
	}
	if holder.Code != "" {
		return r.heldBy(ctx, holder)
	}
	way, known, err := r.way(ctx, id)
	switch {
	case errors.Is(err, errRefused):
		return end{why: WeComError, detail: err.Error()}, nil
	case err != nil:
		return end{}, err
	case !known:
		return end{why: Gone}, nil
	}
	if why := unfit(way); why != "" {
		return end{why: why}, nil
	}
	if err := r.renew(ctx); err != nil {
		return end{}, err
	}
	return r.adopt(ctx, way)
}

func (r *run) way(ctx context.Context, id string) (way contactway.Way, known bool, err error) {
	err = r.call(ctx, func(ctx context.Context) (err error) {
		way, known, err = r.Vendor.ContactWay(ctx, r.job.Tenant, id)
		return err
	})
	return way, known, err
}

// heldBy tells a code that this run has made, before the process died that did,
// from every other. It may not have been announced.
func (r *run) heldBy(ctx context.Context, holder Holder) (end, error) {
	if holder.Run != r.job.Run {
		return end{held: true}, nil
	}
	return end{imported: true}, r.announce(ctx, holder.Code)
}

func (r *run) announce(ctx context.Context, code string) error {
	if _, err := r.Announcer.Refresh(ctx, push.Ref{Tenant: r.job.Tenant, Code: code}, why); err != nil {
		return fmt.Errorf("announce code %s: %w", code, err)
	}
	return nil
}

func (r *run) holders(ctx context.Context, ids ...string) (map[string]Holder, error) {
	holders, err := r.Facts.Holders(ctx, r.job.Tenant, ids)
	if err != nil {
		return nil, fmt.Errorf("find the codes of %d contact ways: %w", len(ids), err)
	}
	return holders, nil
}

// adopt stores a code and announces it. Whoever is listed on it is known first:
// nobody may be left off it as a stranger.
func (r *run) adopt(ctx context.Context, way contactway.Way) (end, error) {
	ctx, cancel := r.within(ctx)
	defer cancel()
	code := r.codeOf(way)
	ids := idsFor(way)
	if len(ids) == 0 {
		return end{why: InvalidFacts, detail: "no code's ID can be made of its config_id"}, nil
	}
	code.ID = ids[0]
	if err := registry.CheckCode(code.Code); err != nil {
		return end{why: InvalidFacts, detail: err.Error()}, nil
	}
	// It may have got a code while the row was gone through.
	if holders, err := r.holders(ctx, way.ConfigID); err != nil || holders[way.ConfigID].Code != "" {
		return r.heldUnless(ctx, holders[way.ConfigID], err)
	}
	if err := r.Facts.AddStaff(ctx, r.job.Tenant, way.Users); err != nil {
		return end{}, fmt.Errorf("add %d staff: %w", len(way.Users), err)
	}
	for _, id := range ids {
		code.ID = id
		added, err := r.Facts.AddCode(ctx, code)
		if err != nil {
			return end{}, fmt.Errorf("add code %s: %w", id, err)
		}
		if added {
			return end{imported: true}, r.announce(ctx, id)
		}
		// What is in the way may be the contact way's own code, made just now.
		holders, err := r.holders(ctx, way.ConfigID)
		if err != nil || holders[way.ConfigID].Code != "" {
			return r.heldUnless(ctx, holders[way.ConfigID], err)
		}
	}
	return end{why: IDTaken, detail: fmt.Sprintf("%q", ids)}, nil
}

func (r *run) heldUnless(ctx context.Context, holder Holder, err error) (end, error) {
	if err != nil {
		return end{}, err
	}
	return r.heldBy(ctx, holder)
}

// codeOf is the code of a contact way, without an ID. What a push writes to WeCom
// is as it is there.
func (r *run) codeOf(way contactway.Way) NewCode {
	code := NewCode{QRCode: way.QRCode, Run: r.job.Run, Code: roster.Code{
		Tenant: r.job.Tenant, ConfigID: way.ConfigID, Family: roster.Native,
		Remark: way.Remark, State: way.State, SkipVerify: way.SkipVerify,
	}}
	for _, user := range slices.Compact(slices.Sorted(slices.Values(way.Users))) {
		code.Members = append(code.Members, roster.Member{Staff: user})
	}
	return code
}

// idsFor are the IDs that a code of a contact way may have, the best first.
func idsFor(way contactway.Way) []string {
	var ids []string
	for _, id := range []string{way.State, "wx-" + way.ConfigID} {
		if registry.CheckCodeID(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// unfit says why a contact way cannot be had; "" when it can.
func unfit(way contactway.Way) Why {
	switch {
	case way.Temporary:
		return Temporary
	case way.Button:
		return MiniProgram
	case way.Kind != contactway.Multi:
		return SingleMember
	case contactway.Marked(way.Remark):
		return BeingMade
	case len(way.Departments) > 0:
		return Departments
	case len(way.Users) == 0:
		return Nobody
	}
	return ""
}
