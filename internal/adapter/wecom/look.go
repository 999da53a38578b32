package wecom

import (
	"context"
	"slices"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
)

var _ spot.Looker = (*Vendor)(nil)

// Way returns a contact way as far as an update overwrites it; false when WeCom
// says that there is none. Its errors are those of Exists.
func (v *Vendor) Way(ctx context.Context, tenant, configID string) (spot.Way, bool, error) {
	var got ContactWay
	err := v.guard(ctx, tenant, OpGet, func() (err error) {
		got, err = v.client.GetContactWay(ctx, tenant, configID)
		return err
	})
	switch {
	case v.gone(err, OpGet):
		return spot.Way{}, false, nil
	case err != nil:
		return spot.Way{}, false, err
	}
	return spot.Way{
		Users:       slices.Compact(slices.Sorted(slices.Values(got.User))),
		Departments: got.Party,
		Remark:      got.Remark,
		State:       got.State,
		SkipVerify:  got.SkipVerify,
	}, true, nil
}
