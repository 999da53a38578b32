//go:build integration

package e2e_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/trail"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
)

// The support ticket: "he was off line and still got customers". WeCom blocked his
// tenant when he went; his list was replaced when the block was over. Afterwards
// the trail names the cause, its end, and who was on the list in between.
func TestTheTicketIsExplainedAfterwards(t *testing.T) {
	h := newHouse(t, wecomsim.Options{})
	h.cfg.Budget.Minute, h.cfg.Budget.Hour = 4*time.Second, 4*time.Minute // how long a block lasts
	h.tenant("acme", "amy", "bob")
	name := "ticket-" + h.cfg.MongoDB.Database
	h.code(roster.Code{ID: name, Tenant: "acme", Switches: roster.Switches{OfflineCheck: true}}, "amy", "bob")
	ref := push.Ref{Tenant: "acme", Code: name}
	h.refresher("r")
	entries := func() []trail.Entry {
		all, err := h.db.Trails().Of(t.Context(), ref)
		h.must(err)
		return all
	}
	h.publish("acme", name)
	eventually(t, 20*time.Second, "the list is pushed and recorded", func() bool {
		return slices.Equal(h.listed("acme", name), []string{"amy", "bob"}) && len(entries()) > 0
	})

	_, err := h.sim.AddFault(fault.Rule{API: "update_contact_way", Action: fault.ErrCode, ErrCode: 45009, Count: 1})
	h.must(err)
	h.must(h.db.Facts().SetPresence(t.Context(), "acme", "amy", roster.OfflineNow))
	h.publish("acme", name)
	var waiting trail.Entry
	eventually(t, 20*time.Second, "the trail says that a push waits", func() bool {
		i := slices.IndexFunc(entries(), func(e trail.Entry) bool { return e.Kind == trail.Waits && e.Cause == reason.Blocked })
		if i >= 0 {
			waiting = entries()[i]
		}
		return i >= 0
	})
	then := time.Now()

	explainer, err := service.OpenExplainer(t.Context(), h.cfg)
	h.must(err)
	t.Cleanup(func() { h.must(explainer.Close(t.Context())) })
	now, err := explainer.Explain(t.Context(), service.Question{Code: name})
	h.must(err)
	if line, _ := now.Of("amy"); line.Listed || !line.Pushed || !slices.ContainsFunc(now.Waits, func(w explain.Wait) bool { return w.Cause == reason.Blocked }) {
		t.Errorf("while it waits: %+v, in the way %+v", line, now.Waits)
	}

	eventually(t, 90*time.Second, "the list is replaced when the block is over", func() bool { return slices.Equal(h.listed("acme", name), []string{"bob"}) })
	eventually(t, 10*time.Second, "the trail has the push", func() bool {
		all := entries()
		return all[len(all)-1].Kind == trail.Pushed && all[len(all)-1].Size == 1
	})
	past := explain.OfPast([]string{"bob"}, entries(), "amy", then)
	if !past.Known || !past.Listed || past.Why != reason.Eligible || past.WhyLeft != reason.Offline || past.Waiting.Cause != reason.Blocked || !past.Left.At.After(waiting.At) {
		t.Errorf("afterwards: %+v", past)
	}
	if past.Waiting.Trigger.Reason != "test" || past.Left.Trigger.Message == "" || past.Left.Trigger.PublishedAt.Before(past.Came.Trigger.PublishedAt) {
		t.Errorf("the events behind it: %+v, %+v", past.Waiting.Trigger, past.Left.Trigger)
	}
	if len(past.Refused) != 1 || past.Refused[0].Cause != reason.Throttled || past.Refused[0].Unknown {
		t.Errorf("refused pushes: %+v", past.Refused)
	}
	if past.Waiting.Until.IsZero() || past.Left.At.Before(past.Waiting.Until.Add(-time.Second)) {
		t.Errorf("it waited until %v, and he left at %v", past.Waiting.Until, past.Left.At)
	}
}
