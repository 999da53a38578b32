package contactway

import (
	"context"
	"errors"
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Adopt gives a code that has none a contact way that is at WeCom already, and
// takes over its state when the code has none of its own. What else the
// contact way is now, the code's next push overwrites. The error is a
// *RefusedError when the contact way cannot be had, one of push.Store's about
// the facts, or a failure after which the adoption may be tried again.
func (m *Maker) Adopt(ctx context.Context, ref push.Ref, configID string) (Held, error) {
	held, err := m.adopt(ctx, ref, configID)
	if err != nil {
		return Held{}, fmt.Errorf("adopt contact way %s for code %s: %w", configID, ref.Code, err)
	}
	return held, nil
}

func (m *Maker) adopt(ctx context.Context, ref push.Ref, configID string) (Held, error) {
	held, err := m.Codes.Held(ctx, ref)
	switch {
	case err != nil:
		return Held{}, err
	case held.ConfigID == configID && held.QRCode != "":
		return held, nil
	case held.ConfigID != "" && held.ConfigID != configID:
		return Held{}, refused(reason.WayTaken, "the code has the contact way %s", held.ConfigID)
	}
	way, err := m.adoptable(ctx, ref, configID)
	if err != nil {
		return Held{}, err
	}
	given, err := m.Codes.Give(ctx, ref, way)
	if err != nil {
		return Held{}, err
	}
	if !given {
		return Held{}, refused(reason.WayTaken, "the code was given another contact way just now, or is deleted")
	}
	m.Observer.WayEvent(ctx, way.Kind, EventAdopted)
	return Held{ConfigID: way.ConfigID, QRCode: way.QRCode}, nil
}

// adoptable returns the contact way if the code may have it.
func (m *Maker) adoptable(ctx context.Context, ref push.Ref, configID string) (Way, error) {
	holder, err := m.Codes.HolderOf(ctx, ref.Tenant, configID)
	if err != nil {
		return Way{}, err
	}
	if holder != "" && holder != ref.Code {
		return Way{}, refused(reason.WayTaken, "the code %s has it", holder)
	}
	way, there, err := m.Vendor.Get(ctx, ref.Tenant, configID)
	if err != nil {
		if o := outcomeOf(err); o.refusal != nil {
			return Way{}, errors.Join(o.refusal, err)
		}
		return Way{}, err
	}
	if !there {
		return Way{}, refused(reason.Gone, "WeCom has no contact way of this ID")
	}
	if way.Kind != Multi {
		return Way{}, refused(reason.WayUnfit, "it is a contact way of a single member, which WeCom never changes to one of several")
	}
	return way, nil
}
