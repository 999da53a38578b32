package wecom

import (
	"context"
	"fmt"
	"iter"

	"github.com/rollcall-dev/rollcall/internal/push"
)

type listPage struct {
	StartTime int64  `json:"start_time,omitempty"` // Unix seconds
	EndTime   int64  `json:"end_time,omitempty"`   // Unix seconds
	Cursor    string `json:"cursor,omitempty"`
	Limit     int    `json:"limit"`
}

type listAnswer struct {
	ContactWay []configRef `json:"contact_way"`
	NextCursor string      `json:"next_cursor"`
}

// ListContactWays yields the config IDs that WeCom has, page by page, each
// page one call, made when it is reached. An error is yielded once, with an
// empty ID, and is the last. Temporary contact ways are not listed (page
// 96348).
func (c *Client) ListContactWays(ctx context.Context, tenant string, request ListContactWaysRequest) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for cursor := ""; ; {
			ids, next, err := c.ListContactWaysPage(ctx, tenant, request, cursor)
			if err != nil {
				yield("", err)
				return
			}
			for _, id := range ids {
				if !yield(id, nil) {
					return
				}
			}
			if cursor = next; cursor == "" {
				return
			}
		}
	}
}

// ListContactWaysPage returns the page that a cursor names, "" the first one, and
// the cursor of the next; "" after the last one.
func (c *Client) ListContactWaysPage(ctx context.Context, tenant string, request ListContactWaysRequest, cursor string) (ids []string, next string, err error) {
	page := listPage{Cursor: cursor, Limit: min(orDefault(request.PageSize, MaxPageSize), MaxPageSize)}
	if !request.Start.IsZero() {
		page.StartTime = request.Start.Unix()
	}
	if !request.End.IsZero() {
		page.EndTime = request.End.Unix()
	}
	answer, err := invoke[listAnswer](ctx, c, call{op: OpList, tenant: tenant}, page)
	if err == nil && answer.NextCursor != "" && answer.NextCursor == cursor {
		err = &push.CallError{Op: OpList, Err: fmt.Errorf("%w: the cursor does not advance", ErrMalformedAnswer)}
	}
	if err != nil {
		return nil, "", err
	}
	for _, way := range answer.ContactWay {
		ids = append(ids, way.ConfigID)
	}
	return ids, answer.NextCursor, nil
}
