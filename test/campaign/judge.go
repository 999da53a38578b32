package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

const updateAPI = "update_contact_way"

// onScan judges a customer at the instant of the pick.
func (r *running) onScan(s wecomsim.Scan) {
	if s.Member == "" {
		r.tally.lostScan()
		return
	}
	code := strings.TrimPrefix(s.ConfigID, "cfg-")
	r.tally.scan(r.platform.truths[tenantOf(code)].scanned(code, s.Member, s.Customer, s.At))
}

// onCall follows what WeCom holds.
func (r *running) onCall(c wecomsim.Call) {
	if c.API != updateAPI || c.ErrCode != 0 || c.Applied.IsZero() {
		return
	}
	code := strings.TrimPrefix(c.ConfigID, "cfg-")
	r.platform.truths[tenantOf(code)].applied(code, taken{c.Members, c.Version, c.Received, c.Applied})
}

// snapshot is the report so far.
func (r *running) snapshot() Report {
	var out Report
	calls := r.sim.Counters()
	out.Pushes = int(calls.Of(updateAPI, 0))
	for _, c := range calls.Calls {
		if c.ErrCode == 45009 {
			out.Answers45009 += int(c.Calls)
		}
	}
	t := r.tally
	t.with(func() {
		out.NetChanges, out.StalePushes, out.UnmatchedPushes = t.netChanges, t.staleCount, t.noMatch
		out.Additions, out.OverCeiling = t.additions, maps.Clone(t.over)
		out.Scans, out.ScansLost = t.scans, t.lost
		out.Misassigned.Total = t.misassigned
		out.Misassigned.ByCause, out.Misassigned.ByFamily = maps.Clone(t.byCause), maps.Clone(t.byFamily)
		out.Misassigned.Drawn = maps.Clone(t.drawn)
		out.Misassigned.ByAge, out.Misassigned.ByTenant = maps.Clone(t.byAge), maps.Clone(t.byTenant)
		out.Freshness, out.FreshnessUnthrottled = quantiles(t.all), quantiles(t.calm)
		out.FreshnessStill = quantiles(t.still)
	})
	return out
}

// judge compares what WeCom and the rotation sets hold with what the facts in
// the store ask for, and looks for events that are nowhere.
func (r *running) judge(ctx context.Context) (Report, error) {
	out := r.snapshot()
	out.Killed, out.Rolls = r.killed, r.rolled
	out.WallSeconds = time.Since(r.live.started).Seconds()
	figures := r.fleet.Figures(ctx)
	out.Redeliveries = int(figures.Sum("rollcall_redeliveries_total"))
	out.ThrottledPushes = int(figures.Sum("rollcall_refresh_freshness_seconds_count", `throttled="true"`))
	out.Coalesced = int(figures.Sum("rollcall_coalesced_total"))
	stats, err := r.admin.Stats(ctx, r.topic, r.subscription)
	if err != nil {
		return Report{}, fmt.Errorf("count the events that are left: %w", err)
	}
	out.EventsPublished, out.EventsUnaccounted = int(stats.Published), int(stats.Backlog)
	out.FanOuts = int(figures.Sum("rollcall_fan_outs_total", `end="finished"`))
	out.DirtyLeft = r.dirtyCount(ctx)
	for _, story := range r.tally.stories {
		r.live.say("stale push of %s", story)
	}
	for _, p := range r.plans {
		for _, c := range p.codes {
			why, err := r.divergence(ctx, p.tenant.ID, c)
			if err != nil {
				return Report{}, err
			}
			if why != "" {
				out.DivergentCodes++
				r.live.say("code %s diverges: %s", c.ID, why)
			}
			off, err := r.countersOff(ctx, p.tenant.ID, c.ID)
			if err != nil {
				return Report{}, err
			}
			if off != "" {
				out.CountersOff++
				r.live.say("the counters of code %s are off: %s", c.ID, off)
			}
		}
	}
	return out, nil
}

// countersOff says how a code's counters differ from what WeCom told; "" is not
// at all.
func (r *running) countersOff(ctx context.Context, tenant, code string) (string, error) {
	facts, err := r.db.Store().Facts(ctx, push.Ref{Tenant: tenant, Code: code})
	if err != nil {
		return "", fmt.Errorf("read the counters of %s: %w", code, err)
	}
	tr := r.platform.truths[tenant]
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if want, got := tr.codes[code].counters.Total, facts.Counters.Total; !maps.Equal(want, got) {
		return fmt.Sprintf("%v were told, %v are counted", want, got), nil
	}
	for id, staff := range facts.Staff {
		if want, got := tr.staff[id].Added, staff.Added; !maps.Equal(want, got) {
			return fmt.Sprintf("%v were told of %s, %v are counted", want, id, got), nil
		}
	}
	return "", nil
}

// divergence says how a code differs from its facts; "" is not at all.
func (r *running) divergence(ctx context.Context, tenant string, code roster.Code) (string, error) {
	facts, record, err := r.db.Store().Load(ctx, push.Ref{Tenant: tenant, Code: code.ID})
	if err != nil {
		return "", fmt.Errorf("read code %s: %w", code.ID, err)
	}
	verdict, err := roster.Decide(facts, record.Last(), roster.LaneRules{}, r.restedAt)
	if err != nil {
		return "", fmt.Errorf("decide code %s: %w", code.ID, err)
	}
	if len(verdict.Members) == 0 {
		return "", nil // nobody can be listed, and WeCom takes no empty list
	}
	way, ok := r.sim.Way(corpOf(tenant), code.ConfigID)
	if !ok {
		return "WeCom does not know it", nil
	}
	held := slices.Sorted(slices.Values(way.Users))
	if !slices.Equal(held, verdict.Members) {
		return fmt.Sprintf("WeCom holds %v, the facts ask for %v", held, verdict.Members), nil
	}
	if !slices.Equal(record.Committed.Members, verdict.Members) {
		return fmt.Sprintf("the record says %v, the facts ask for %v", record.Committed.Members, verdict.Members), nil
	}
	return r.setDivergence(ctx, tenant, code, verdict)
}

func (r *running) setDivergence(ctx context.Context, tenant string, code roster.Code, verdict roster.Verdict) (string, error) {
	if !code.Family.Rotates() {
		return "", nil
	}
	seats, err := r.rotation.Seats(ctx, push.Ref{Tenant: tenant, Code: code.ID})
	if err != nil {
		return "", errors.Join(fmt.Errorf("read the rotation set of %s", code.ID), err)
	}
	want := make([]string, 0, len(verdict.Rotation))
	for _, seat := range verdict.Rotation {
		want = append(want, seat.Staff)
	}
	if !slices.Equal(seats, want) {
		return fmt.Sprintf("the rotation set is %v, the facts ask for %v", seats, want), nil
	}
	return "", nil
}
