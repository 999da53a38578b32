package contactway

import (
	"context"
	"slices"
	"strings"
)

// search looks for a contact way that an announced call may have made. When
// there is none the call is made again.
func (m *Maker) search(ctx context.Context, row Row) (Held, error) {
	if err := m.claim(ctx, &row); err != nil {
		return Held{}, err
	}
	found, err := m.marked(ctx, row)
	if err != nil {
		o := outcomeOf(err)
		row.Why, row.Detail = o.why, o.detail
		return m.searchAgain(ctx, row)
	}
	if len(found) == 0 {
		return m.addAgain(ctx, row)
	}
	m.Observer.WayEvent(ctx, row.kind(), EventFound)
	var spare []string
	for _, way := range found[1:] {
		spare = append(spare, way.ConfigID)
	}
	return m.made(ctx, row, found[0], spare)
}

// searchAgain leaves the announcement in place: nothing is known yet.
func (m *Maker) searchAgain(ctx context.Context, row Row) (Held, error) {
	row.Failures++
	row.NotBefore = m.opts.Now().Add(m.opts.Retry.After(row.Failures, row.Code+row.Staff))
	if err := m.replace(ctx, &row); err != nil {
		return Held{}, err
	}
	return Held{}, ErrPending
}

// marked returns the contact ways with the row's marker, in the order of their
// IDs, so that all who look choose the same.
func (m *Maker) marked(ctx context.Context, row Row) ([]Way, error) {
	var found []Way
	for configID, err := range m.Vendor.List(ctx, row.Tenant, row.Window) {
		if err != nil {
			return nil, err
		}
		if m.remarks.lacks(row.Tenant, configID, row.Marker) {
			continue
		}
		way, there, err := m.Vendor.Get(ctx, row.Tenant, configID)
		if err != nil {
			return nil, err
		}
		if there {
			m.remarks.saw(row.Tenant, configID, way.Remark)
		}
		if there && way.Remark == row.Marker {
			found = append(found, way)
		}
	}
	slices.SortFunc(found, func(a, b Way) int { return strings.Compare(a.ConfigID, b.ConfigID) })
	return found, nil
}
