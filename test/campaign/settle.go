package campaign

import (
	"context"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// judging is how long the judgement may take. No shift turns meanwhile: they do
// at full minutes.
const judging = 10 * time.Second

// settle waits until nothing is under way, at most for the time given, and
// returns since when that is so.
func (r *running) settle(ctx context.Context, limit time.Duration) time.Time {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	quiet, since := 0, time.Now()
	for quiet < 3 && sleep(ctx, 100*time.Millisecond) {
		now := time.Now()
		if r.busy(ctx, now) || now.Truncate(time.Minute).Add(time.Minute).Sub(now) < judging {
			quiet, since = 0, now
			continue
		}
		quiet++
	}
	return since
}

// busy reports that an event is not acked, that a dirty code is due soon, that
// time has changed a code and nobody has said so, that an addition is open, or
// that a fan-out is on its way. Who cannot be asked is busy.
func (r *running) busy(ctx context.Context, now time.Time) bool {
	stats, err := r.admin.Stats(ctx, r.topic, r.subscription)
	if err != nil || stats.Backlog > 0 || r.dirtySoon(ctx, now) {
		return true
	}
	due, err := r.db.Changes().DueTenants(ctx, now)
	if err != nil || len(due) > 0 {
		return true
	}
	open, err := r.db.Quota().Open(ctx, now.Add(time.Hour), 1)
	if err != nil || len(open) > 0 {
		return true
	}
	jobs, err := r.db.FanOuts().List(ctx, "", "", maxDirty)
	for _, job := range jobs {
		if job.State != fanout.Done {
			return true
		}
	}
	return err != nil
}

// maxDirty is the most dirty codes and fan-outs that are looked at.
const maxDirty = 10_000

// soon tells dirty codes that wait for budget from those that wait for their
// facts: with nobody left to list, a code is looked at again at midnight.
const soon = 5 * time.Minute

func (r *running) dirtySoon(ctx context.Context, now time.Time) bool {
	entries, err := r.db.Dirty().List(ctx, push.Ref{}, maxDirty)
	return err != nil || slices.ContainsFunc(entries, func(e mongostore.DirtyEntry) bool {
		return e.State != push.DirtyReleased && !e.Due.After(now.Add(soon))
	})
}

func (r *running) dirtyCount(ctx context.Context) int {
	entries, err := r.db.Dirty().List(ctx, push.Ref{}, maxDirty)
	if err != nil {
		return -1
	}
	return len(entries)
}
