package wecom

import (
	"context"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/contactway"
)

var _ adoption.Vendor = (*Vendor)(nil)

// ContactWay returns what WeCom holds of a contact way; false when it has none of that
// ID. Its errors are those of Update, never unknown.
func (v *Vendor) ContactWay(ctx context.Context, tenant, configID string) (contactway.Way, bool, error) {
	var got ContactWay
	err := v.guard(ctx, tenant, OpGet, func() (err error) {
		got, err = v.client.GetContactWay(ctx, tenant, configID)
		return err
	})
	switch {
	case v.gone(err, OpGet):
		return contactway.Way{}, false, nil
	case err != nil:
		return contactway.Way{}, false, err
	}
	return got.way(), true, nil
}

func (w ContactWay) way() contactway.Way {
	users := slices.Compact(slices.Sorted(slices.Values(w.User)))
	return contactway.Way{
		ConfigID: w.ConfigID, QRCode: w.QRCode, Kind: contactway.Kind(w.Type),
		Remark: w.Remark, State: w.State, SkipVerify: w.SkipVerify, Users: users, Departments: append([]int64(nil), w.Party...),
		Button: w.Scene != QRCode, Temporary: w.IsTemp,
	}
}

// WayIDs returns a page of the config IDs of the contact ways that were made
// within a window, in whole seconds, rounded outwards, and the cursor of the next
// page; "" begins, and is returned with the last page. It is one call. Temporary
// contact ways are not listed.
func (v *Vendor) WayIDs(ctx context.Context, tenant string, made contactway.Window, cursor string) (ids []string, next string, err error) {
	err = v.guard(ctx, tenant, OpList, func() (err error) {
		ids, next, err = v.client.ListContactWaysPage(ctx, tenant, listRequestOf(made), cursor)
		return err
	})
	return ids, next, err
}

func listRequestOf(made contactway.Window) ListContactWaysRequest {
	return ListContactWaysRequest{Start: made.From.Truncate(time.Second), End: made.To.Add(time.Second - 1).Truncate(time.Second)}
}
