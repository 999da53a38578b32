package intervene

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Records are the codes' records and facts, as the push protocol has them.
// push.Store is one.
type Records interface {
	Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error)
	Begin(ctx context.Context, ref push.Ref, seen int64, intent push.Intent) (bool, error)
	SetFailure(ctx context.Context, ref push.Ref, failure push.Failure) error
	Resume(ctx context.Context, tenant string, seen time.Time) error
}

// Dirty is the dirty set, as far as a release goes into it. dirty.Set is one.
type Dirty interface {
	Get(ctx context.Context, ref push.Ref) (dirty.Seen, bool, error)
	OfReason(ctx context.Context, tenant string, why reason.Reason, limit int) ([]dirty.Seen, error)
	DueNow(ctx context.Context, seen dirty.Seen, now time.Time) (bool, error)
}

// Desk is where orders are weighed and carried out. All fields are required. It is
// safe for concurrent use.
type Desk struct {
	Registry *registry.Registry
	Records  Records
	Dirty    Dirty
	Book     decision.Book
	Rules    roster.LaneRules
	Rate     float64 // calls a second of a tenant's pace
	Now      func() time.Time
}

// Weighed says what an order leads to and what is said against it.
type Weighed struct {
	Effect []Point
	Harm   []Point
}

// Done is what became of an order.
type Done struct {
	Weighed
	Published registry.Place
	FanOut    fanout.Ticket // when Published is registry.ByFanOut
	Repushed  int           // lists that are to be pushed whatever is known of them
}

// Carry weighs an order, records it and carries it out. A *HarmError refuses one
// that would do harm unless it insists. Errors of the registry say what is not
// there. An order may be repeated.
func (d Desk) Carry(ctx context.Context, o Order) (Done, error) {
	about, err := d.look(ctx, o)
	if err != nil {
		return Done{}, err
	}
	done := Done{Weighed: about.weighed}
	if len(done.Harm) > 0 && !o.Insist {
		return done, &HarmError{done.Harm}
	}
	taken := decision.New(o.By, o.Action, o.String(), d.Now())
	taken.Tenant, taken.Reason, taken.Detail = o.Tenant, o.Why, o.detail()
	if o.Kind == Code {
		taken.Code = o.ID
	}
	err = decision.Take(ctx, d.Book, taken, func(ctx context.Context) error { return d.act(ctx, o, about, &done) })
	return done, err
}

// Weigh says what an order leads to, and changes nothing.
func (d Desk) Weigh(ctx context.Context, o Order) (Weighed, error) {
	about, err := d.look(ctx, o)
	return about.weighed, err
}

// detail is what of an order its action and subject do not say.
func (o Order) detail() string {
	switch {
	case o.Repush:
		return "every list is pushed"
	case o.Action == decision.SetLane && o.Lane == roster.LaneAuto:
		return "by the rules"
	case o.Action == decision.SetLane:
		return string(o.Lane)
	case !o.Until.IsZero():
		return "until " + o.Until.UTC().Format(time.RFC3339)
	}
	return ""
}

func (d Desk) act(ctx context.Context, o Order, about *about, done *Done) error {
	if o.Repush {
		if err := d.distrust(ctx, o, about, done); err != nil {
			return fmt.Errorf("after %d lists: %w", done.Repushed, err)
		}
	}
	out, err := d.write(ctx, o, about)
	done.Published, done.FanOut = out.Published, out.FanOut
	if err != nil || o.Action != decision.Release {
		return err
	}
	return d.wake(ctx, o)
}

// wake makes due now what waits in the dirty set for the end of a hold, so that it
// does not stand there for an hour when its list has been right for long. Of a
// tenant with more codes than dirty.MostAtOnce the rest does.
func (d Desk) wake(ctx context.Context, o Order) error {
	entries, err := d.waiting(ctx, o)
	if err != nil {
		return fmt.Errorf("it is released; find what waits in the dirty set: %w", err)
	}
	for _, seen := range entries {
		if _, err := d.Dirty.DueNow(ctx, seen, d.Now()); err != nil { // false: it has changed, and somebody else is at it
			return fmt.Errorf("it is released; make code %s due in the dirty set: %w", seen.Code, err)
		}
	}
	return nil
}

func (d Desk) waiting(ctx context.Context, o Order) ([]dirty.Seen, error) {
	switch o.Kind {
	case Tenant:
		return d.Dirty.OfReason(ctx, o.Tenant, reason.OnHold, dirty.MostAtOnce)
	case Code:
		seen, there, err := d.Dirty.Get(ctx, o.ref())
		if err != nil || !there {
			return nil, err
		}
		return []dirty.Seen{seen}, nil
	case Staff:
	}
	return nil, nil
}

// write stores the order's fact, if it is one, and has the codes recomputed.
func (d Desk) write(ctx context.Context, o Order, about *about) (registry.Outcome, error) {
	why := "operator_" + string(o.Action)
	switch o.Kind {
	case Code:
		return d.writeCode(ctx, o, about, why)
	case Staff:
		return d.writeStaff(ctx, o, why)
	case Tenant:
	}
	return d.writeTenant(ctx, o, about, why)
}

func (d Desk) writeCode(ctx context.Context, o Order, about *about, why string) (registry.Outcome, error) {
	switch o.Action { //nolint:exhaustive // of the actions these are orders about a code; the others recompute it
	case decision.Hold:
		err := d.Registry.Facts().HoldCode(ctx, o.Tenant, o.ID, o.stop(d.Now()))
		if err != nil || !about.facts.Code.Hold.Active(d.Now()) {
			return registry.Outcome{Changed: true, Published: registry.Nowhere}, err
		}
		// What waits for the end of the hold before, which may be later, learns of this one.
	case decision.Release:
		if err := d.Registry.Facts().HoldCode(ctx, o.Tenant, o.ID, roster.Stop{}); err != nil {
			return registry.Outcome{}, err
		}
		if about.record.Failure.Streak > 0 {
			if err := d.Records.SetFailure(ctx, o.ref(), push.Failure{}); err != nil {
				return registry.Outcome{}, err
			}
		}
	case decision.SetLane:
		return d.Registry.ChangeCode(ctx, o.Tenant, registry.CodeEdit{Code: o.ID, Lane: registry.To(o.Lane)}, why)
	}
	return d.Registry.RecomputeCode(ctx, o.ref(), why)
}

func (d Desk) writeStaff(ctx context.Context, o Order, why string) (registry.Outcome, error) {
	edit := registry.StaffEdit{Staff: o.ID}
	switch o.Action {
	case decision.Suspend:
		edit.Off = registry.To(o.stop(d.Now()))
	case decision.Release:
		edit.Off, edit.Readmit = registry.To(roster.Stop{}), true
	default:
		return d.Registry.Recompute(ctx, o.scope(), why)
	}
	return d.Registry.ChangeStaff(ctx, o.Tenant, edit, why)
}

func (d Desk) writeTenant(ctx context.Context, o Order, about *about, why string) (registry.Outcome, error) {
	edit := registry.TenantEdit{Tenant: o.Tenant}
	switch o.Action {
	case decision.Hold:
		edit.Hold = registry.To(o.stop(d.Now()))
	case decision.SetLane:
		edit.Lane = registry.To(o.Lane)
	case decision.Release:
		if s := about.tenant.Suspension; s.Active() {
			if err := d.Records.Resume(ctx, o.Tenant, s.NextProbe); err != nil {
				return registry.Outcome{}, err
			}
		}
		if about.tenant.Hold.Since.IsZero() {
			return d.Registry.Recompute(ctx, o.scope(), why)
		}
		edit.Hold = registry.To(roster.Stop{})
	default:
		return d.Registry.Recompute(ctx, o.scope(), why)
	}
	return d.Registry.ChangeTenant(ctx, edit, why)
}
