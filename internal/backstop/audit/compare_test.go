package audit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Each line makes one code, changes something behind its record's back, and says
// what a look at it finds.
func TestCompare(t *testing.T) {
	offline := func(w *world) {
		w.store.EditStaff("acme", "bob", func(s *roster.Staff) { s.Presence = roster.OfflineNow })
	}
	record := func(edit func(*push.Record)) func(*world) {
		return func(w *world) {
			r := w.store.Record(acme("c"))
			edit(&r)
			w.store.PutRecord(acme("c"), r)
		}
	}
	both := func(all ...func(*world)) func(*world) {
		return func(w *world) {
			for _, one := range all {
				one(w)
			}
		}
	}
	slow := func(c *roster.Code) { c.Lane = roster.LaneSlow }
	rotates := func(c *roster.Code) { c.Family = roster.Sequenced }
	for name, tt := range map[string]struct {
		code   func(*roster.Code)
		change func(*world)
		kind   reason.Reason
		waits  reason.Reason
		detail string
	}{
		"nothing changed":                        {},
		"somebody went":                          {change: offline, kind: reason.Stale, detail: "still has bob (offline)"},
		"somebody came":                          {change: func(w *world) { addMember(w, "dan") }, kind: reason.Stale, detail: "lacks dan (eligible)"},
		"a remark":                               {change: func(w *world) { w.store.EditCode("c", func(c *roster.Code) { c.Remark = "x" }) }, kind: reason.Stale, detail: "the members agree"},
		"never pushed":                           {change: record(func(r *push.Record) { *r = push.Record{Code: "c"} }), kind: reason.NeverPushed},
		"a record that lies":                     {change: record(func(r *push.Record) { r.Committed.Members = []string{"ann"} }), kind: reason.RecordLies, detail: "lacks bob"},
		"a push under way":                       {change: both(offline, record(func(r *push.Record) { r.Intents = []push.Intent{{Epoch: 2, Deadline: t0.Add(time.Second)}} })), kind: reason.Stale, waits: reason.Unsettled},
		"a push left behind":                     {change: record(func(r *push.Record) { r.Intents = []push.Intent{{Epoch: 2, Deadline: t0.Add(-time.Second)}} }), kind: reason.Unsettled},
		"a backoff":                              {change: both(offline, record(func(r *push.Record) { r.Failure.NotBefore = t0.Add(time.Second) })), kind: reason.Stale, waits: reason.Backoff},
		"a suspended tenant":                     {change: both(offline, func(w *world) { suspend(w) }), kind: reason.Stale, waits: reason.Suspended},
		"a booked slot":                          {change: both(offline, func(w *world) { w.booked[acme("c")] = true }), kind: reason.Stale, waits: reason.Throttled},
		"a slow lane":                            {code: slow, change: offline, kind: reason.Stale, waits: reason.SlowLane},
		"in the dirty set":                       {change: both(offline, func(w *world) { mark(w) }), kind: reason.Stale, waits: reason.Dirty},
		"nobody is left":                         {change: func(w *world) { everybodyGone(w) }},
		"without a contact way":                  {change: func(w *world) { w.store.EditCode("c", func(c *roster.Code) { c.ConfigID = "" }) }},
		"deleted":                                {change: func(w *world) { w.store.EditCode("c", func(c *roster.Code) { c.Deleted = true }) }},
		"deleted with a set":                     {code: rotates, change: func(w *world) { w.store.EditCode("c", func(c *roster.Code) { c.Deleted = true }) }, kind: reason.SetDiffers},
		"in shadow mode":                         {change: both(offline, shadowed, func(w *world) { w.note("c") })},
		"in shadow mode, and its event was lost": {change: both(shadowed, func(w *world) { w.note("c") }, offline), kind: reason.Stale, detail: "what is noted"},
		"in shadow mode, and never noted":        {change: shadowed, kind: reason.Stale},
		"a set that is right":                    {code: rotates},
		"a wiped set":                            {code: rotates, change: func(w *world) { delete(w.sets, acme("c")) }, kind: reason.SetMissing},
		"a wiped set, throttled": {
			code: rotates, change: func(w *world) { delete(w.sets, acme("c")); w.booked[acme("c")] = true },
			kind: reason.SetMissing,
		},
		"another order in the set": {
			code: rotates, change: func(w *world) { w.sets[acme("c")] = audit.Set{Version: 2, Staff: []string{"bob", "ann", "cyd"}} },
			kind: reason.SetDiffers, detail: "seats bob, ann, cyd, the facts ask for ann, bob, cyd",
		},
		"another round in the set": {
			code: rotates, change: func(w *world) { s := w.sets[acme("c")]; s.Round = 4; w.sets[acme("c")] = s },
			kind: reason.SetDiffers, detail: "round 4",
		},
		"facts that contradict": {change: func(w *world) { w.store.EditCode("c", func(c *roster.Code) { c.Lane = "quick" }) }, kind: reason.InvalidFacts},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tt.code == nil {
				tt.code = func(*roster.Code) {}
			}
			w.put("c", tt.code)
			w.pushed("c")
			if tt.change != nil {
				tt.change(w)
			}
			looks, err := codes{w}.Of(t.Context(), []push.Ref{acme("c")})
			if err != nil {
				t.Fatal(err)
			}
			looks[0].Set, looks[0].Booked = w.sets[acme("c")], w.booked[acme("c")]
			got := audit.Compare(looks[0], roster.LaneRules{FastFor: time.Hour, SlowInterval: time.Hour}, t0)
			if got.Kind != tt.kind || got.Waits != tt.waits || !strings.Contains(got.Detail, tt.detail) {
				t.Errorf("found %q, waits for %q: %s\nwant %q, %q: %s", got.Kind, got.Waits, got.Detail, tt.kind, tt.waits, tt.detail)
			}
			if got.Agrees() != (tt.kind == "") {
				t.Errorf("Agrees() = %t", got.Agrees())
			}
		})
	}
}

func shadowed(w *world) {
	w.store.EditCode("c", func(c *roster.Code) { c.Mode = roster.Shadow })
}

// note notes what would be pushed now.
func (w *world) note(id string) {
	facts, record, err := w.store.Load(w.Context(), acme(id))
	if err != nil {
		w.Fatal(err)
	}
	verdict, err := roster.Decide(facts, record.Last(), roster.LaneRules{}, t0)
	if err != nil {
		w.Fatal(err)
	}
	w.noted[acme(id)] = verdict.Hash
}

func addMember(w *world, id string) {
	w.store.PutStaff("acme", roster.Staff{ID: id})
	w.store.EditCode("c", func(c *roster.Code) { c.Members = append(c.Members, roster.Member{Staff: id}) })
}

func suspend(w *world) {
	w.store.EditTenant("acme", func(t *roster.Tenant) {
		t.Suspension = roster.Suspension{Since: t0, NextProbe: t0.Add(time.Minute)}
	})
}

func mark(w *world) {
	if err := w.dirty.Mark(w.Context(), push.Mark{Ref: acme("c"), Reason: reason.Transient, Due: t0}); err != nil {
		w.Fatal(err)
	}
}

func everybodyGone(w *world) {
	w.store.EditCode("c", func(c *roster.Code) { c.Members, c.Revision = nil, 2 })
}

func TestMissingStaffAreNamed(t *testing.T) {
	w := newWorld(t)
	w.put("c")
	w.pushed("c")
	w.store.EditCode("c", func(c *roster.Code) { c.Members = append(c.Members, roster.Member{Staff: "zoe"}) })
	looks, _ := codes{w}.Of(t.Context(), []push.Ref{acme("c")})
	got := audit.Compare(looks[0], roster.LaneRules{}, t0)
	if !got.Agrees() || len(got.Missing) != 1 || got.Missing[0] != "zoe" {
		t.Errorf("found %+v; want agreement, and zoe missing", got)
	}
}
