package wecom

import (
	"context"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
)

var _ spot.Looker = (*Vendor)(nil)

// Way returns a contact way as far as an update overwrites it; false when WeCom
// says that there is none. Its errors are those of Exists.
func (v *Vendor) Way(ctx context.Context, tenant, configID string) (spot.Way, bool, error) {
	way, known, err := v.ContactWay(ctx, tenant, configID)
	if err != nil || !known {
		return spot.Way{}, false, err
	}
	return spot.Way{
		Users: way.Users, Departments: way.Departments, Remark: way.Remark, State: way.State, SkipVerify: way.SkipVerify,
	}, true, nil
}
