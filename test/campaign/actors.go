package campaign

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// The actors' rhythm.
const (
	presenceEvery = 150 * time.Millisecond // somebody of a calm tenant comes or goes
	editEvery     = 700 * time.Millisecond // a code is edited
	stormEvery    = 800 * time.Millisecond // somebody of the storm tenant comes or goes
)

// actors move the world until ctx ends.
type actors struct {
	platform *platform
	plans    []tenantPlan
	seed     uint64
}

func (a *actors) run(ctx context.Context) {
	var wg sync.WaitGroup
	calm := a.plans
	if n := len(a.plans); a.plans[n-1].tenant.ID == stormTenant {
		calm = a.plans[:n-1]
		storm := a.plans[n-1]
		wg.Go(func() { a.every(ctx, stormEvery, 11, func(r *rand.Rand) { a.comeOrGo(ctx, r, storm) }) })
	}
	wg.Go(func() {
		a.every(ctx, presenceEvery, 12, func(r *rand.Rand) { a.comeOrGo(ctx, r, calm[r.IntN(len(calm))]) })
	})
	wg.Go(func() {
		a.every(ctx, editEvery, 13, func(r *rand.Rand) { a.edit(ctx, r, calm[r.IntN(len(calm))]) })
	})
	wg.Wait()
}

// every acts at random intervals around the one given.
func (a *actors) every(ctx context.Context, mean time.Duration, stream uint64, act func(*rand.Rand)) {
	rnd := rand.New(rand.NewPCG(a.seed, stream))
	for {
		wait := time.NewTimer(mean/2 + time.Duration(rnd.Int64N(int64(mean))))
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-wait.C:
			act(rnd)
		}
	}
}

// comeOrGo flips the online flag of somebody who has one.
func (a *actors) comeOrGo(ctx context.Context, rnd *rand.Rand, p tenantPlan) {
	staff := p.staff[rnd.IntN(len(p.staff))].ID
	tr := a.platform.truths[p.tenant.ID]
	tr.mu.Lock()
	presence := tr.staff[staff].Presence
	tr.mu.Unlock()
	switch presence {
	case roster.Online:
		a.platform.setPresence(ctx, p.tenant.ID, staff, roster.OfflineNow)
	case roster.OfflineNow:
		a.platform.setPresence(ctx, p.tenant.ID, staff, roster.Online)
	case roster.PresenceUnset: // works by a schedule
	}
}

// edit gives a code one more member, or takes one off.
func (a *actors) edit(ctx context.Context, rnd *rand.Rand, p tenantPlan) {
	code := p.codes[rnd.IntN(len(p.codes))].ID
	tr := a.platform.truths[p.tenant.ID]
	tr.mu.Lock()
	members := append([]roster.Member(nil), tr.codes[code].code.Members...)
	tr.mu.Unlock()
	extra := p.staff[rnd.IntN(len(p.staff))].ID
	at := -1
	for i, m := range members {
		if m.Staff == extra {
			at = i
		}
	}
	switch {
	case at >= 0 && len(members) > 2:
		members = append(members[:at], members[at+1:]...)
	case at < 0:
		members = append(members, roster.Member{Staff: extra, AddLimit: 8, DailyLimit: 5, RoundLimit: 1})
	default:
		return
	}
	a.platform.editMembers(ctx, p.tenant.ID, code, members)
}

// turnShifts publishes at every full minute, when shifts begin and end.
func (a *actors) turnShifts(ctx context.Context) {
	for {
		now := time.Now()
		wait := time.NewTimer(now.Truncate(time.Minute).Add(time.Minute).Sub(now))
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-wait.C:
			a.platform.shiftsTurned(ctx)
		}
	}
}
