//go:build integration

package e2e_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/trail"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

// An operator steps in beside a refresher and a keeper at work.
func TestAnOperatorStepsIn(t *testing.T) {
	h := newHouse(t, wecomsim.Options{})
	h.tenant("acme", "amy", "bob")
	name := "held-" + h.cfg.MongoDB.Database
	h.code(roster.Code{ID: name, Tenant: "acme", Switches: roster.Switches{OfflineCheck: true}}, "amy", "bob")
	ref := push.Ref{Tenant: "acme", Code: name}
	code := intervene.Subject{Kind: intervene.Code, Tenant: "acme", ID: name}
	h.refresher("r")
	cfg := h.cfg
	h.run("keeper", func(ctx context.Context) error { return service.RunKeeper(ctx, cfg, "test") })
	h.publish("acme", name)
	lists := func(what string, want ...string) {
		t.Helper()
		eventually(t, 30*time.Second, what, func() bool { return slices.Equal(h.listed("acme", name), want) })
	}
	lists("the list is pushed", "amy", "bob")
	waits := func() bool {
		all, err := h.db.Trails().Of(t.Context(), ref)
		h.must(err)
		return slices.ContainsFunc(all, func(e trail.Entry) bool { return e.Kind == trail.Waits && e.Cause == reason.OnHold })
	}

	// A hold keeps the list until its end, which nobody has to announce.
	end := time.Now().Add(3 * time.Second)
	h.order(intervene.Order{Action: decision.Hold, Subject: code, Until: end})
	h.presence("amy", roster.OfflineNow, name)
	eventually(t, 10*time.Second, "the push waits for the hold's end", waits)
	if got := h.listed("acme", name); !slices.Equal(got, []string{"amy", "bob"}) {
		t.Errorf("held, WeCom lists %v", got)
	}
	lists("the list is pushed when the hold ends", "bob")
	if early := time.Until(end); early > time.Second {
		t.Errorf("it was pushed %v before the hold's end", early)
	}

	// One without an end waits in the dirty set, and its release pushes.
	h.order(intervene.Order{Action: decision.Hold, Subject: code})
	h.presence("amy", roster.Online, name)
	eventually(t, 10*time.Second, "the code waits in the dirty set", func() bool {
		entry, there := h.dirty("acme", name)
		return there && slices.Contains(entry.Reasons, reason.OnHold)
	})
	h.order(intervene.Order{Action: decision.Release, Subject: code})
	lists("the release pushes", "amy", "bob")

	// A suspension takes him off, and is no presence: he is online all the time.
	bob := intervene.Subject{Kind: intervene.Staff, Tenant: "acme", ID: "bob"}
	h.order(intervene.Order{Action: decision.Suspend, Subject: bob})
	lists("he is off every list", "amy")
	h.order(intervene.Order{Action: decision.Release, Subject: bob})
	lists("he is back", "amy", "bob")

	// What somebody edited at WeCom is mended by pushing whatever is known.
	h.sim.AddWay("corp-acme", wecomsim.Way{ConfigID: "cfg-" + name, Type: wecomsim.MultiUser, Users: []string{"stranger"}})
	h.order(intervene.Order{Action: decision.Refresh, Subject: code})
	h.order(intervene.Order{Action: decision.Refresh, Subject: code, Repush: true})
	lists("it is pushed again", "amy", "bob")
	eventually(t, 30*time.Second, "nothing is left open", func() bool {
		record, err := h.db.Store().Record(t.Context(), ref)
		h.must(err)
		_, dirty := h.dirty("acme", name)
		return len(record.Intents) == 0 && !dirty
	})
}

// order has an operator's order carried out on connections of its own.
func (h *house) order(o intervene.Order) {
	h.Helper()
	o.By, o.Why = "ann", "incident 42"
	h.must(service.AtInterventionDesk(h.Context(), h.cfg, func(desk service.InterventionDesk) error {
		_, err := desk.Carry(h.Context(), o)
		return err
	}))
}

func (h *house) presence(staff string, p roster.Presence, code string) {
	h.Helper()
	h.must(h.db.Facts().SetPresence(h.Context(), "acme", staff, p))
	h.publish("acme", code)
}
