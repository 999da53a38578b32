package notify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// terms are how a tenant wants to be told, as of the beginning of a turn.
type terms struct {
	channels Channels
	zone     *time.Location
	sender   Sender
	limit    int // of a day's pool
}

func (t terms) day(now time.Time) roster.Day { return roster.DayOf(now, t.zone) }

func (d *Dispatcher) terms(ctx context.Context, lane Lane) (terms, error) {
	t, err := readTerms(ctx, d.Directory, lane.Tenant, d.opts.DailyPool)
	if err != nil {
		return terms{}, err
	}
	if t.sender = d.Senders[lane.Via]; t.sender == nil {
		return terms{}, fmt.Errorf("no sender for channel %s", lane.Via)
	}
	return t, nil
}

func readTerms(ctx context.Context, directory Directory, tenant string, pool int) (terms, error) {
	channels, err := directory.Channels(ctx, tenant)
	if err != nil {
		return terms{}, fmt.Errorf("read the channels of tenant %s: %w", tenant, err)
	}
	zone, err := directory.Zone(ctx, tenant)
	if err != nil {
		return terms{}, fmt.Errorf("read the time zone of tenant %s: %w", tenant, err)
	}
	return terms{channels: channels, zone: zone, limit: cmp.Or(channels.DailyPool, pool)}, nil
}

// inTurn sorts the lanes so that those after the last one come first.
func inTurn(lanes []Lane, last Lane) []Lane {
	lanes = slices.SortedFunc(slices.Values(lanes), compareLanes)
	next, _ := slices.BinarySearchFunc(lanes, last, compareLanes)
	if next < len(lanes) && lanes[next] == last {
		next++
	}
	return slices.Concat(lanes[next:], lanes[:next])
}

func compareLanes(a, b Lane) int {
	return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Via, b.Via))
}
