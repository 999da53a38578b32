package intervene

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Kind is what an order is about.
type Kind string

// The kinds.
const (
	Code   Kind = "code"
	Staff  Kind = "staff"
	Tenant Kind = "tenant"
)

// Subject names a code, a staff member or a tenant.
type Subject struct {
	Kind   Kind
	Tenant string
	ID     string // of the code or the staff member; "" of a tenant
}

// String is "code acme/spring", "staff acme/li.na" or "tenant acme".
func (s Subject) String() string {
	if s.Kind == Tenant {
		return "tenant " + s.Tenant
	}
	return string(s.Kind) + " " + s.Tenant + "/" + s.ID
}

func (s Subject) ref() push.Ref { return push.Ref{Tenant: s.Tenant, Code: s.ID} }

// scope is all codes of a staff member or a tenant.
func (s Subject) scope() fanout.Scope {
	if s.Kind == Staff {
		return fanout.Scope{Tenant: s.Tenant, Staff: s.ID}
	}
	return fanout.Scope{Tenant: s.Tenant}
}

// The longest stop that ends by itself.
const longest = 400 * 24 * time.Hour

// Order is what an operator asks for.
type Order struct {
	// Action is Refresh, Hold, Suspend, Release or SetLane of package decision.
	Action decision.Action
	Subject
	Until  time.Time         // of Hold and Suspend: when it ends by itself; zero: when it is released
	Lane   roster.LaneSwitch // of SetLane
	Repush bool              // of Refresh: push each list, also one that is known to be right
	By     string            // the operator
	Why    string            // his reason; required
	Insist bool              // carry it out whatever is said against it
}

// Errors of orders.
var (
	ErrNoReason = errors.New("an order needs a reason")
	ErrNoAction = errors.New("no such order")
	// ErrNothing says that there is nothing to release.
	ErrNothing = errors.New("nothing is stopped there")
	// ErrDeleted says that the code was retired: nothing keeps its list true.
	ErrDeleted = errors.New("the code was retired")
)

// takes says which kinds an action is for, and what to do instead.
var takes = map[decision.Action]map[Kind]string{
	decision.Refresh: {},
	decision.Release: {},
	decision.Hold:    {Staff: "a staff member is not held; suspend takes him off every list"},
	decision.Suspend: {
		Code:   "a code is not suspended; hold keeps its list as it is",
		Tenant: "a tenant is not suspended by hand; hold keeps its lists as they are",
	},
	decision.SetLane: {Staff: "a lane is a code's or a tenant's, not a staff member's"},
}

// Check refuses an order that means nothing, whatever its subject is called.
func (o Order) Check(now time.Time) error {
	instead, known := takes[o.Action]
	if !known {
		return fmt.Errorf("%w: %q", ErrNoAction, o.Action)
	}
	if hint := instead[o.Kind]; hint != "" {
		return fmt.Errorf("%w: %s", ErrNoAction, hint)
	}
	if strings.TrimSpace(o.Why) == "" {
		return ErrNoReason
	}
	if o.Until.IsZero() {
		return nil
	}
	if !o.Until.After(now) || o.Until.Sub(now) > longest {
		return fmt.Errorf("it is to end at %s; want an instant after now, at most 400 days away", o.Until.UTC().Format(time.RFC3339))
	}
	return nil
}

// stop is what a Hold or a Suspend writes, in the milliseconds that a store keeps.
func (o Order) stop(now time.Time) roster.Stop {
	s := roster.Stop{Since: now.UTC().Truncate(time.Millisecond), By: o.By, Why: o.Why}
	if !o.Until.IsZero() {
		s.Until = o.Until.UTC().Truncate(time.Millisecond)
	}
	return s
}
