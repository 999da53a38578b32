package intervene

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// How many codes one look takes in, so that an order about a tenant of a million
// codes is weighed within a moment.
const (
	page    = 500
	counted = 20_000
	decided = 500 // codes whose verdict is looked at
	atOnce  = 8
)

// manyCalls is how much of a tenant's pace a refresh may take unasked.
const manyCalls = time.Minute

// about is what was read of an order's subject.
type about struct {
	weighed Weighed
	tenant  registry.Tenant
	staff   registry.Staff
	facts   roster.Facts // of a code
	record  push.Record
}

func (a *about) leads(to Point)    { a.weighed.Effect = append(a.weighed.Effect, to) }
func (a *about) against(say Point) { a.weighed.Harm = append(a.weighed.Harm, say) }

// pushed are the facts that say of all lists of the subject whether they are pushed.
func (a *about) pushed() roster.Facts {
	return roster.Facts{Tenant: a.tenant.Tenant, Code: a.facts.Code}
}

// look reads what an order is about, and weighs it.
func (d Desk) look(ctx context.Context, o Order) (*about, error) {
	a := &about{}
	if err := o.Check(d.Now()); err != nil {
		return a, err
	}
	if err := d.read(ctx, o.Subject, a); err != nil {
		return a, err
	}
	weigh := map[decision.Action]func(context.Context, Order, *about) error{
		decision.Refresh: d.weighRefresh, decision.Hold: d.weighHold, decision.Suspend: d.weighSuspend,
		decision.Release: d.weighRelease, decision.SetLane: d.weighLane,
	}[o.Action]
	err := weigh(ctx, o, a)
	return a, err
}

// read finds the subject; the registry's errors say that it is not there.
func (d Desk) read(ctx context.Context, s Subject, a *about) (err error) {
	if registry.CheckTenantID(s.Tenant) != nil {
		return registry.ErrUnknownTenant
	}
	if a.tenant, err = d.Registry.Facts().Tenant(ctx, s.Tenant); err != nil {
		return err
	}
	switch s.Kind {
	case Staff:
		people, err := d.Registry.Facts().StaffOf(ctx, s.Tenant, []string{s.ID})
		if err != nil {
			return err
		}
		one, there := people[s.ID]
		if !there {
			return registry.ErrUnknownStaff
		}
		a.staff = one
	case Code:
		return d.readCode(ctx, s, a)
	case Tenant:
	}
	return nil
}

func (d Desk) readCode(ctx context.Context, s Subject, a *about) (err error) {
	a.facts, a.record, err = d.Records.Load(ctx, s.ref())
	switch {
	case errors.Is(err, push.ErrUnknownCode), errors.Is(err, push.ErrWrongTenant):
		return registry.ErrUnknownCode
	case err != nil:
		return err
	case a.facts.Code.Deleted:
		return ErrDeleted
	}
	return nil
}

func (d Desk) weighHold(ctx context.Context, o Order, a *about) error {
	if o.Kind == Tenant {
		n, more, err := d.count(ctx, o.Subject, a)
		if err != nil {
			return err
		}
		a.leads(Point{What: Keeps, Count: n, More: more, Until: o.Until})
		a.against(Point{What: NoRemoval, Count: n, More: more})
		if o.Until.IsZero() {
			a.against(Point{What: NoEnd})
		}
		return nil
	}
	a.leads(Point{What: Keeps, Count: 1, Until: o.Until})
	if a.facts.Shadowed() {
		a.leads(Point{What: Shadows})
		return nil
	}
	verdict, err := roster.Decide(a.facts, a.record.Last(), d.Rules, d.Now())
	if err != nil {
		return nil //nolint:nilerr // facts that cannot be decided take nobody off
	}
	var stay []string
	for _, staff := range a.record.Committed.Members {
		if !slices.Contains(verdict.Members, staff) {
			stay = append(stay, staff)
		}
	}
	if len(stay) > 0 {
		a.against(Point{What: StaysOn, Names: stay, Count: len(stay)})
	}
	return nil
}

func (d Desk) weighSuspend(ctx context.Context, o Order, a *about) error {
	without, looked := map[What][]string{}, 0
	n, more, err := d.walk(ctx, o.Subject, a, func(ctx context.Context, codes []registry.Code) error {
		codes = codes[:min(len(codes), decided-looked)]
		looked += len(codes)
		return d.lookWithout(ctx, o, codes, without)
	})
	if err != nil {
		return err
	}
	a.leads(Point{What: Leaves, Count: n, More: more, Until: o.Until})
	for _, what := range []What{NobodyLeft, NotPushed} {
		if names := without[what]; len(names) > 0 {
			a.against(Point{What: what, Names: names[:min(len(names), maxNamed)], Count: len(names)})
		}
	}
	if n > looked {
		a.against(Point{What: NotAllSeen, Count: looked})
	}
	return nil
}

// lookWithout adds the codes that a staff member does not leave, by what is said
// of them. One code's facts must not keep him on the lists of the others.
func (d Desk) lookWithout(ctx context.Context, o Order, codes []registry.Code, into map[What][]string) error {
	said := make([]What, len(codes))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, code := range codes {
		group.Go(func() error {
			facts, record, err := d.Records.Load(groupCtx, push.Ref{Tenant: o.Tenant, Code: code.ID})
			switch {
			case errors.Is(err, push.ErrUnknownCode): // gone meanwhile
				return nil
			case errors.Is(err, push.ErrInvalidFacts):
				said[i] = NotPushed
				return nil
			case err != nil:
				return err
			}
			said[i] = d.without(facts, record, o)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, code := range codes {
		if said[i] != "" {
			into[said[i]] = append(into[said[i]], code.ID)
		}
	}
	return nil
}

// without is what keeps a staff member on a code's list; "" is nothing.
func (d Desk) without(facts roster.Facts, record push.Record, o Order) What {
	hold, listed := facts.Hold(d.Now()), slices.Contains(record.Committed.Members, o.ID)
	switch {
	case listed && (facts.Shadowed() || hold.Active(d.Now())):
		return NotPushed
	case d.needs(facts, record, o):
		return NobodyLeft
	}
	return ""
}

// needs reports whether a code has somebody to list now and has nobody without the
// staff member.
func (d Desk) needs(facts roster.Facts, record push.Record, o Order) bool {
	before, err := roster.Decide(facts, record.Last(), d.Rules, d.Now())
	if err != nil || slices.Contains(before.Notes, reason.NobodyLeft) {
		return false
	}
	who := facts.Staff[o.ID]
	who.Off = o.stop(d.Now())
	facts.Staff[o.ID] = who
	after, err := roster.Decide(facts, record.Last(), d.Rules, d.Now())
	return err == nil && slices.Contains(after.Notes, reason.NobodyLeft)
}

func (d Desk) weighRelease(ctx context.Context, o Order, a *about) error {
	now := d.Now()
	switch o.Kind {
	case Code:
		return a.weighReleaseOfCode(now)
	case Staff:
		if !a.staff.Off.Active(now) && !a.staff.QuarantinedUntil.After(now) {
			return ErrNothing
		}
	case Tenant:
		if !a.tenant.Hold.Active(now) && !a.tenant.Suspension.Active() {
			return ErrNothing
		}
	}
	n, more, err := d.count(ctx, o.Subject, a)
	a.leads(Point{What: Returns, Count: n, More: more})
	return err
}

// weighReleaseOfCode: a tenant's hold keeps the lists of codes that have none.
func (a *about) weighReleaseOfCode(now time.Time) error {
	held := a.facts.Tenant.Hold.Active(now)
	switch {
	case a.facts.Code.Hold.Active(now) || a.record.Failure.Streak > 0:
	case held:
		return fmt.Errorf("%w; its tenant is on hold, which a release of the tenant ends", ErrNothing)
	default:
		return ErrNothing
	}
	if held {
		a.leads(Point{What: StillHeld, Until: a.facts.Tenant.Hold.Until})
		return nil
	}
	a.leads(Point{What: Returns, Count: 1})
	return nil
}

func (d Desk) weighLane(ctx context.Context, o Order, a *about) error {
	n, more, before := 1, false, a.facts.Code.Lane
	if o.Kind == Tenant {
		before = a.tenant.Lane
		var err error
		if n, more, err = d.count(ctx, o.Subject, a); err != nil {
			return err
		}
	}
	if before == o.Lane {
		a.leads(Point{What: Redundant})
		return nil
	}
	switch o.Lane {
	case roster.LaneFast:
		a.leads(Point{What: Fast})
	case roster.LaneSlow:
		a.leads(Point{What: Slow, For: d.Rules.SlowInterval})
		a.against(Point{What: SlowRemovals, Count: n, More: more, For: d.Rules.SlowInterval})
	case roster.LaneAuto:
		a.leads(Point{What: ByRules})
	}
	return nil
}

func (d Desk) weighRefresh(ctx context.Context, o Order, a *about) error {
	n, more := 1, false
	if o.Kind != Code {
		var err error
		if n, more, err = d.count(ctx, o.Subject, a); err != nil {
			return err
		}
	}
	if !o.Repush {
		a.leads(Point{What: Recomputes, Count: n, More: more})
		return nil
	}
	facts := a.pushed()
	if facts.Shadowed() {
		a.leads(Point{What: Shadows})
		return nil
	}
	takes := time.Duration(float64(n) / d.Rate * float64(time.Second))
	a.leads(Point{What: PushesAll, Count: n, More: more, For: takes})
	if hold := facts.Hold(d.Now()); hold.Active(d.Now()) {
		a.leads(Point{What: StillHeld, Until: hold.Until})
	}
	if more || takes > manyCalls {
		a.against(Point{What: ManyCalls, Count: n, More: more, For: takes})
	}
	return nil
}

// count counts the codes of a staff member or a tenant, up to counted.
func (d Desk) count(ctx context.Context, s Subject, a *about) (n int, more bool, err error) {
	return d.walk(ctx, s, a, func(context.Context, []registry.Code) error { return nil })
}

// walk sees the codes of a staff member or a tenant, a page at a time, up to
// counted, and counts them.
func (d Desk) walk(ctx context.Context, s Subject, a *about, see func(context.Context, []registry.Code) error) (n int, more bool, err error) {
	err = d.eachCode(ctx, s, a.tenant.Tenant, func(ctx context.Context, codes []registry.Code) (bool, error) {
		n += len(codes)
		more = n >= counted && len(codes) == page
		return !more, see(ctx, codes)
	})
	return n, more, err
}

// eachCode sees all codes of a staff member or a tenant that were not retired, a
// page at a time, for as long as the next one is wanted.
func (d Desk) eachCode(ctx context.Context, s Subject, tenant roster.Tenant, see func(context.Context, []registry.Code) (bool, error)) error {
	for after := ""; ; {
		codes, err := d.codes(ctx, s, tenant, registry.Page{After: after, Limit: page})
		if err != nil || len(codes) == 0 {
			return err
		}
		last := len(codes) < page
		after = codes[len(codes)-1].ID
		codes = slices.DeleteFunc(codes, func(c registry.Code) bool { return c.Deleted })
		further, err := see(ctx, codes)
		if err != nil || last || !further {
			return err
		}
	}
}

func (d Desk) codes(ctx context.Context, s Subject, tenant roster.Tenant, at registry.Page) ([]registry.Code, error) {
	if s.Kind == Staff {
		return d.Registry.Facts().ListCodesOf(ctx, tenant, s.ID, at)
	}
	return d.Registry.Facts().ListCodes(ctx, s.Tenant, at)
}
