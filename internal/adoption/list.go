package adoption

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// cursorsLost is how often a window's listing may begin anew because WeCom
// refuses its cursor.
const cursorsLost = 3

// list writes the import's rows, window by window. Each ID is in one of them
// once, however often WeCom names it.
func (r *run) list(ctx context.Context) error {
	listed, err := r.listed(ctx)
	if err != nil {
		return err
	}
	lost := 0
	for r.job.State == Listing {
		ids, next, err := r.page(ctx)
		if errors.Is(err, errRefused) && r.job.Cursor != "" && lost < cursorsLost {
			lost++
			r.job.Cursor = "" // it may be of yesterday
			continue
		}
		if err != nil {
			return fmt.Errorf("list the contact ways: %w", err)
		}
		if err := r.add(ctx, listed, ids); err != nil {
			return err
		}
		r.advance(next)
		if err := r.save(ctx); err != nil {
			return err
		}
	}
	return nil
}

// listed are the IDs of the rows that there are.
func (r *run) listed(ctx context.Context) (map[string]bool, error) {
	listed := map[string]bool{}
	for seq := range r.job.Rows {
		row, err := r.rowOf(ctx, seq)
		if err != nil {
			return nil, err
		}
		for _, id := range row.IDs {
			listed[id] = true
		}
	}
	return listed, nil
}

func (r *run) rowOf(ctx context.Context, seq int) (Row, error) {
	row, found, err := r.Jobs.Row(ctx, r.job, seq)
	if err == nil && !found {
		err = errors.New("it is not there")
	}
	if err != nil {
		return Row{}, fmt.Errorf("read row %d of the import: %w", seq, err)
	}
	return row, nil
}

func (r *run) page(ctx context.Context) (ids []string, next string, err error) {
	err = r.call(ctx, func(ctx context.Context) (err error) {
		ids, next, err = r.Vendor.WayIDs(ctx, r.job.Tenant, r.job.Window, r.job.Cursor)
		return err
	})
	return ids, next, err
}

// add writes rows of those IDs that are not listed yet.
func (r *run) add(ctx context.Context, listed map[string]bool, ids []string) error {
	var fresh []string
	for _, id := range ids {
		if !listed[id] {
			listed[id] = true
			fresh = append(fresh, id)
		}
	}
	for chunk := range slices.Chunk(fresh, RowSize) {
		if err := r.putRow(ctx, Row{Seq: r.job.Rows, IDs: chunk}); err != nil {
			return err
		}
		r.job.Rows++
		r.job.Listed += len(chunk)
	}
	return nil
}

// advance goes to the next page, the next window, or the end.
func (r *run) advance(cursor string) {
	if r.job.Cursor = cursor; cursor != "" {
		return
	}
	window, more := nextWindow(r.job.Window, r.job.End)
	if !more {
		r.job.State = Adopting
	}
	r.job.Window = window
}
