package console

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// act is a button.
type act struct {
	Name   string
	URL    string
	Danger bool
}

// errand is an action as a person has asked for it.
type errand struct {
	intervene.Subject
	Letter string        // the dead letter's ID
	Cause  reason.Reason // of the dirty codes meant
	For    string        // one of lengths
	Lane   string        // one of lanes
	Repush bool
	By     string
	Why    string
	Insist bool
	Now    time.Time
}

// weighed is what is known of an errand before it is done.
type weighed struct {
	effect, harm []string
}

// deed is something that a person may do.
type deed struct {
	scope  access.Scope
	danger bool
	fields []field // what is asked beside the reason
	weigh  func(context.Context, *Console, errand, lang) (weighed, error)
	// carry returns what to tell beside that it was done.
	carry func(context.Context, *Console, errand, lang) (string, error)
}

// field is a question of a form.
type field struct {
	Name     string
	Options  []string
	Value    string
	Required bool
}

// lengths are how long a stop may last.
var lengths = map[string]time.Duration{"1h": time.Hour, "4h": 4 * time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "open": 0}

// lanes are what a lane may be.
var lanes = map[string]roster.LaneSwitch{"auto": roster.LaneAuto, "fast": roster.LaneFast, "slow": roster.LaneSlow}

var (
	askFor    = field{Name: "for", Options: []string{"1h", "4h", "24h", "7d", "open"}, Value: "1h"}
	askLane   = field{Name: "lane", Options: []string{"auto", "fast", "slow"}, Value: "auto"}
	askRepush = field{Name: "repush", Options: []string{"no", "yes"}, Value: "no"}
)

// retryAllName is the deed about all dirty codes of a tenant and a reason.
const retryAllName = "dirty-retry-all"

// deeds are all that a person may do, by the name in the address.
var deeds = map[string]deed{
	"refresh": order(decision.Refresh, access.Write, askRepush),
	"hold":    order(decision.Hold, access.Admin, askFor),
	"suspend": order(decision.Suspend, access.Admin, askFor),
	"release": order(decision.Release, access.Admin),
	"lane":    order(decision.SetLane, access.Admin, askLane),
	"dirty-retry": {scope: access.Write, weigh: weighDirty, carry: func(ctx context.Context, c *Console, e errand, _ lang) (string, error) {
		_, err := c.Dirty.Desk(e.By).Retry(ctx, e.Tenant+"/"+e.ID, e.Why)
		return "", err
	}},
	retryAllName: {scope: access.Write, carry: retryAll},
	"dirty-drop": {scope: access.Admin, danger: true, weigh: weighDirty, carry: func(ctx context.Context, c *Console, e errand, _ lang) (string, error) {
		_, err := c.Dirty.Desk(e.By).Drop(ctx, e.Tenant+"/"+e.ID, e.Why)
		return "", err
	}},
	"letter-republish": {scope: access.Write, weigh: weighLetter, carry: republish},
	"letter-discard":   {scope: access.Admin, danger: true, weigh: weighLetter, carry: discard},
}

// order is a deed that package intervene knows.
func order(action decision.Action, scope access.Scope, fields ...field) deed {
	return deed{
		scope: scope, danger: action == decision.Hold || action == decision.Suspend, fields: fields,
		weigh: func(ctx context.Context, c *Console, e errand, l lang) (weighed, error) {
			if e.Why == "" {
				e.Why = "asked for" // an order without a reason is not even weighed
			}
			w, err := c.Orders.Weigh(ctx, orderOf(action, e))
			return weighed{l.points(w.Effect), l.points(w.Harm)}, err
		},
		carry: func(ctx context.Context, c *Console, e errand, l lang) (string, error) {
			done, err := c.Orders.Carry(ctx, orderOf(action, e))
			if err != nil || done.Published == "" {
				return "", err
			}
			return l.say("place." + string(done.Published)), nil
		},
	}
}

func orderOf(action decision.Action, e errand) intervene.Order {
	o := intervene.Order{Action: action, Subject: e.Subject, By: e.By, Why: e.Why, Insist: e.Insist}
	switch action {
	case decision.Hold, decision.Suspend:
		if lasting := lengths[e.For]; lasting > 0 {
			o.Until = e.Now.Add(lasting)
		}
	case decision.SetLane:
		o.Lane = lanes[e.Lane]
	case decision.Refresh:
		o.Repush = e.Repush
	default: // it has no question of its own
	}
	return o
}

// The orders that a subject is offered; what was stopped can be released too.
var (
	ordersOfList  = []string{"refresh", "hold", "lane"}
	ordersOfStaff = []string{"refresh", "suspend"}
)

// offered are a subject's orders, the release among them where something is
// stopped.
func offered(names []string, stops int) []string {
	if stops > 0 {
		return append([]string{"release"}, names...)
	}
	return names
}

// acts are those of the orders about a subject that the visitor may give.
func (v *visit) acts(s intervene.Subject, names []string) []act {
	var all []act
	for _, name := range names {
		one := deeds[name]
		if !v.may(one.scope, s.Tenant) {
			continue
		}
		all = append(all, act{Name: name, Danger: one.danger, URL: query("/console/do/"+name, "tenant", s.Tenant, string(s.Kind), s.ID)})
	}
	return all
}
