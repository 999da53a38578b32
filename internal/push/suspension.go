package push

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Times between two probes of a suspended tenant: doubled with each, so that
// wrong credentials do not get the egress address blocked, and never longer
// than somebody who has mended them would wait.
const (
	firstProbe   = 30 * time.Second
	longestProbe = 5 * time.Minute
)

// allowed waits while the tenant is suspended, or takes on the one call that
// finds out whether it still has to be.
func (a *attempt) allowed(ctx context.Context) Outcome {
	s := a.facts.Tenant.Suspension
	now := a.opts.Now()
	if !s.Active() {
		return nil
	}
	if s.NextProbe.After(now) {
		return a.wait(s.NextProbe, reason.Suspended)
	}
	probe := s
	probe.Probes++
	probe.NextProbe = nextProbe(now, probe.Probes)
	won, err := a.Store.Suspend(ctx, a.ref.Tenant, s.NextProbe, probe)
	if err != nil {
		return a.storeDown("take on the probe of a suspended tenant", err)
	}
	if !won {
		return a.wait(now.Add(firstProbe), reason.Suspended)
	}
	a.facts.Tenant.Suspension = probe
	return nil
}

// suspend stops the calls of a tenant whose credentials WeCom refuses.
func (a *attempt) suspend(ctx context.Context, call *CallError) Outcome {
	now, before := a.opts.Now(), a.facts.Tenant.Suspension
	if before.Active() {
		return a.wait(before.NextProbe, reason.Suspended)
	}
	s := roster.Suspension{Since: now, NextProbe: nextProbe(now, 0), Detail: call.Error()}
	if _, err := a.Store.Suspend(ctx, a.ref.Tenant, time.Time{}, s); err != nil {
		return a.storeDown("suspend a tenant", err)
	}
	return a.wait(s.NextProbe, reason.Suspended)
}

// resume ends the suspension that a successful call has refuted.
func (a *attempt) resume(ctx context.Context) Outcome {
	s := a.facts.Tenant.Suspension
	if !s.Active() {
		return nil
	}
	if err := a.Store.Resume(ctx, a.ref.Tenant, s.NextProbe); err != nil {
		return a.storeDown("end a tenant's suspension", err)
	}
	a.facts.Tenant.Suspension = roster.Suspension{}
	return nil
}

// nextProbe is an instant in the milliseconds that a store keeps, since it is
// compared there.
func nextProbe(now time.Time, probes int) time.Time {
	return now.Add(min(longestProbe, firstProbe<<min(probes, 10))).UTC().Truncate(time.Millisecond)
}
