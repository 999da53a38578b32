package intervene_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/decision/decisiontest"
	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/registry/registrytest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var (
	noon   = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	at14   = noon.Add(2 * time.Hour)
	acme   = intervene.Subject{Kind: intervene.Tenant, Tenant: "acme"}
	spring = intervene.Subject{Kind: intervene.Code, Tenant: "acme", ID: "spring"}
	liNa   = intervene.Subject{Kind: intervene.Staff, Tenant: "acme", ID: "li.na"}
)

// What is said before an order is carried out.
func TestWeigh(t *testing.T) {
	tests := map[string]struct {
		given func(*rig)
		order intervene.Order
		want  string
	}{
		"a code is recomputed": {order: order(decision.Refresh, spring), want: "1 code is recomputed; a list that is right is not pushed again"},
		"all of a tenant's are pushed": {
			given: (*rig).manyCodes, order: repush(order(decision.Refresh, acme)),
			want: "302 lists are pushed once, whatever is known of them; that takes 1m31s of the tenant's pace\n" +
				"HARM 302 calls of the tenant's quota, 1m31s of its pace; changes of other codes wait among them",
		},
		"a list that is right is kept": {order: until(order(decision.Hold, spring), at14), want: "the list stays as WeCom has it, until 2026-11-30T14:00:00Z"},
		"somebody who should leave would stay": {
			given: func(r *rig) { r.record("spring", "li.na", "wang"); r.offline("wang") }, order: order(decision.Hold, spring),
			want: "the list stays as WeCom has it, until it is released\nHARM wang should leave the list, and customers go on reaching them",
		},
		"a tenant is held for good": {
			order: order(decision.Hold, acme),
			want: "the lists of 2 codes stay as WeCom has them, until it is released\n" +
				"HARM nobody leaves the lists of 2 codes meanwhile: whoever goes off line or reaches his ceiling goes on being reached\n" +
				"HARM it has no end: it lasts until somebody releases it",
		},
		"he is not the only one": {order: order(decision.Suspend, subject("wang")), want: "he leaves every list, of 1 code, until it is released"},
		"he is the only one somewhere": {
			order: until(order(decision.Suspend, liNa), at14),
			want: "he leaves every list, of 2 codes, until 2026-11-30T14:00:00Z\n" +
				"HARM nobody else can take a customer on autumn; WeCom takes no empty list, and he stays on it",
		},
		"he is on a list that is on hold": {
			given: func(r *rig) { r.record("spring", "li.na", "wang"); r.hold(at14) }, order: order(decision.Suspend, subject("wang")),
			want: "he leaves every list, of 1 code, until it is released\n" +
				"HARM nothing is pushed of spring now (on hold, written by another system, or of facts that are not valid), and he stays there",
		},
		"he is on a list of another system": {
			given: func(r *rig) { r.record("spring", "li.na", "wang"); r.shadow() }, order: order(decision.Suspend, subject("wang")),
			want: "he leaves every list, of 1 code, until it is released\n" +
				"HARM nothing is pushed of spring now (on hold, written by another system, or of facts that are not valid), and he stays there",
		},
		"a code of a tenant on hold is released": {
			given: func(r *rig) { r.hold(at14); r.failing("spring") }, order: order(decision.Release, spring),
			want: "a hold keeps WeCom's lists as they are; nothing is pushed until 2026-11-30T14:00:00Z",
		},
		"a code in shadow mode is pushed": {
			given: (*rig).shadow, order: repush(order(decision.Refresh, spring)),
			want: "another system writes the list: Rollcall pushes nothing anyway",
		},
		"a code on hold is pushed": {
			given: func(r *rig) { r.hold(at14) }, order: repush(order(decision.Refresh, spring)),
			want: "1 list is pushed once, whatever is known of them; that takes 0s of the tenant's pace\n" +
				"a hold keeps WeCom's lists as they are; nothing is pushed until 2026-11-30T14:00:00Z",
		},
		"a slow lane": {
			order: lane(order(decision.SetLane, spring), roster.LaneSlow),
			want:  "a code is pushed at most once in 30m0s\nHARM whoever has to leave a list of 1 code stays on it for up to 30m0s",
		},
		"a fast lane":           {order: lane(order(decision.SetLane, acme), roster.LaneFast), want: "changes are pushed at once"},
		"the lane that it has":  {order: lane(order(decision.SetLane, acme), roster.LaneAuto), want: "it is so already"},
		"a code in shadow mode": {given: (*rig).shadow, order: order(decision.Hold, spring), want: "the list stays as WeCom has it, until it is released\nanother system writes the list: Rollcall pushes nothing anyway"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if test.given != nil {
				test.given(r)
			}
			weighed, err := r.desk.Weigh(t.Context(), test.order)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, p := range weighed.Effect {
				lines = append(lines, p.String())
			}
			for _, p := range weighed.Harm {
				lines = append(lines, "HARM "+p.String())
			}
			if diff := cmp.Diff(strings.Split(test.want, "\n"), lines); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(r.events) > 0 || len(r.decided()) > 0 {
				t.Errorf("weighing did something: %v, %v", r.events, r.decided())
			}
		})
	}
}

func TestOrdersThatMeanNothing(t *testing.T) {
	nobody := order(decision.Hold, spring)
	nobody.Why = " "
	tests := map[string]struct {
		order intervene.Order
		want  error
		says  string
	}{
		"a hold of a staff member":       {order(decision.Hold, liNa), intervene.ErrNoAction, "suspend takes him off every list"},
		"a suspension of a code":         {order(decision.Suspend, spring), intervene.ErrNoAction, "hold keeps its list as it is"},
		"a suspension of a tenant":       {order(decision.Suspend, acme), intervene.ErrNoAction, "hold keeps its lists"},
		"a staff member's lane":          {order(decision.SetLane, liNa), intervene.ErrNoAction, "a code's or a tenant's"},
		"another action":                 {order(decision.DropDirty, spring), intervene.ErrNoAction, "dirty_drop"},
		"no reason":                      {nobody, intervene.ErrNoReason, ""},
		"an end in the past":             {until(order(decision.Hold, spring), noon), nil, "want an instant after now"},
		"an end in years":                {until(order(decision.Hold, spring), noon.AddDate(2, 0, 0)), nil, "at most 400 days"},
		"no such tenant":                 {order(decision.Hold, intervene.Subject{Kind: intervene.Tenant, Tenant: "globex"}), registry.ErrUnknownTenant, ""},
		"no tenant's name":               {order(decision.Hold, intervene.Subject{Kind: intervene.Tenant, Tenant: "a/b"}), registry.ErrUnknownTenant, ""},
		"no such staff member":           {order(decision.Suspend, subject("nobody")), registry.ErrUnknownStaff, ""},
		"no such code":                   {order(decision.Hold, intervene.Subject{Kind: intervene.Code, Tenant: "acme", ID: "x"}), registry.ErrUnknownCode, ""},
		"nothing to release, a code":     {order(decision.Release, spring), intervene.ErrNothing, ""},
		"nothing to release, a tenant":   {order(decision.Release, acme), intervene.ErrNothing, ""},
		"nothing to release, of a staff": {order(decision.Release, liNa), intervene.ErrNothing, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			_, err := r.desk.Carry(t.Context(), test.order)
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %v %q", err, test.want, test.says)
			}
			if n := len(r.decided()); n > 0 {
				t.Errorf("%d decisions are recorded", n)
			}
		})
	}
}

// Who releases a code that only its tenant's hold stops is told where to go.
func TestTheTenantsHoldIsNamed(t *testing.T) {
	r := newRig(t)
	r.hold(at14)
	if _, err := r.desk.Carry(t.Context(), order(decision.Release, spring)); !errors.Is(err, intervene.ErrNothing) || !strings.Contains(err.Error(), "its tenant is on hold") {
		t.Error(err)
	}
}

// What would do harm is refused, recorded nowhere, and done for one who insists.
func TestHarmIsRefused(t *testing.T) {
	r := newRig(t)
	o := order(decision.Hold, acme)
	_, err := r.desk.Carry(t.Context(), o)
	if harm, ok := errors.AsType[*intervene.HarmError](err); !ok || len(harm.Harm) != 2 {
		t.Fatalf("got %v", err)
	}
	if company, _ := r.facts.Tenant(t.Context(), "acme"); company.Hold.Active(noon) || len(r.decided()) > 0 {
		t.Fatal("it was carried out")
	}
	o.Insist = true
	r.carry(o)
	if company, _ := r.facts.Tenant(t.Context(), "acme"); !company.Hold.Active(noon) {
		t.Error("it was not carried out")
	}
}

// Each order is a fact, is announced, and is in the book by whoever gave it.
func TestCarry(t *testing.T) {
	stop := roster.Stop{Since: noon, Until: at14, By: "ann", Why: "incident 42"}
	r := newRig(t)
	r.carry(until(order(decision.Hold, spring), at14))
	r.wantStop("the code's hold", stop, r.code("spring").Hold)
	r.carry(insist(until(order(decision.Hold, acme), at14)))
	r.wantStop("the tenant's hold", stop, r.tenant().Hold)
	r.carry(insist(until(order(decision.Suspend, liNa), at14)))
	r.wantStop("his stop", stop, r.staff("li.na").Off)
	r.carry(lane(order(decision.SetLane, acme), roster.LaneFast))
	r.carry(lane(order(decision.SetLane, spring), roster.LaneFast))
	if r.tenant().Lane != roster.LaneFast || r.code("spring").Lane != roster.LaneFast {
		t.Error("the lanes are not set")
	}
	r.carry(order(decision.Release, spring))
	r.wantStop("the code's hold", roster.Stop{}, r.code("spring").Hold)
	r.carry(order(decision.Release, acme))
	r.wantStop("the tenant's hold", roster.Stop{}, r.tenant().Hold)
	r.carry(order(decision.Release, liNa))
	r.wantStop("his stop", roster.Stop{}, r.staff("li.na").Off)
	for _, s := range []intervene.Subject{spring, acme, liNa} {
		r.carry(order(decision.Refresh, s))
	}
	want := []string{
		"fan-out acme/ operator_hold", "fan-out acme/li.na operator_suspend", "fan-out acme/ operator_lane", "event acme/spring operator_lane",
		"event acme/spring operator_release", "fan-out acme/ operator_release", "fan-out acme/li.na operator_release",
		"event acme/spring operator_refresh", "fan-out acme/ operator_refresh", "fan-out acme/li.na operator_refresh",
	}
	if diff := cmp.Diff(want, r.events); diff != "" {
		t.Errorf("announced (-want +got):\n%s", diff)
	}
	all := r.decided()
	first := all[slices.IndexFunc(all, func(d decision.Decision) bool { return d.Code == "spring" && d.Action == decision.Hold })]
	if first.Action != decision.Hold || first.By != "ann" || first.Code != "spring" || first.Tenant != "acme" || first.Reason != "incident 42" ||
		first.Detail != "until 2026-11-30T14:00:00Z" || first.State != decision.Done {
		t.Errorf("recorded %+v", first)
	}
	if n := len(all); n != 11 {
		t.Errorf("%d decisions are recorded, want one for each order", n)
	}
}

// A release also ends what WeCom's refusals have stopped.
func TestReleaseEndsWhatRefusalsStopped(t *testing.T) {
	r := newRig(t)
	r.records["spring"] = push.Record{Code: "spring", Epoch: 3, Failure: push.Failure{Streak: 4, NotBefore: at14}}
	r.carry(order(decision.Release, spring))
	if r.records["spring"].Failure.Streak != 0 {
		t.Error("the backoff goes on")
	}
	who := r.staff("li.na")
	who.QuarantinedUntil = at14
	r.facts.Seed(r.tenant(), []registry.Staff{who}, nil)
	r.carry(order(decision.Release, liNa))
	if r.staff("li.na").QuarantinedUntil.After(noon) {
		t.Error("the quarantine goes on")
	}
	company := r.tenant()
	company.Suspension = roster.Suspension{Since: noon, NextProbe: at14}
	r.facts.Seed(company, nil, nil)
	r.carry(order(decision.Release, acme))
	if len(r.resumed) != 1 || !r.resumed[0].Equal(at14) {
		t.Errorf("resumed %v", r.resumed)
	}
}

// What waits in the dirty set for the end of a hold comes back with its release.
func TestReleaseWakesTheDirtySet(t *testing.T) {
	r := newRig(t)
	r.dirty = []dirty.Seen{
		{Ref: push.Ref{Tenant: "acme", Code: "spring"}, About: "on_hold"},
		{Ref: push.Ref{Tenant: "acme", Code: "autumn"}, About: "on_hold"},
		{Ref: push.Ref{Tenant: "acme", Code: "gone"}, About: "throttled"},
	}
	r.carry(order(decision.Hold, spring))
	r.carry(order(decision.Release, spring))
	if diff := cmp.Diff([]string{"spring"}, r.woken); diff != "" {
		t.Errorf("of the code's release (-want +got):\n%s", diff)
	}
	r.woken = nil
	r.carry(insist(order(decision.Hold, acme)))
	r.carry(order(decision.Release, acme))
	if diff := cmp.Diff([]string{"spring", "autumn"}, r.woken); diff != "" {
		t.Errorf("of the tenant's release (-want +got):\n%s", diff)
	}
}

// A code that waits for the end of a hold learns of another end.
func TestAHoldInPlaceOfAnother(t *testing.T) {
	r := newRig(t)
	r.carry(until(order(decision.Hold, spring), at14.AddDate(0, 0, 7)))
	if len(r.events) > 0 {
		t.Errorf("a first hold announces %v", r.events)
	}
	r.carry(until(order(decision.Hold, spring), at14))
	if diff := cmp.Diff([]string{"event acme/spring operator_hold"}, r.events); diff != "" {
		t.Errorf("announced (-want +got):\n%s", diff)
	}
}

// A repush makes what WeCom holds count as unknown, for codes that were pushed.
func TestRepush(t *testing.T) {
	r := newRig(t)
	r.record("spring", "li.na")
	r.contend = 2 // refreshers push it meanwhile
	done := r.carry(repush(order(decision.Refresh, acme)))
	if done.Repushed != 1 || done.Published != registry.ByFanOut {
		t.Errorf("done %+v", done)
	}
	got := r.records["spring"]
	if len(got.Intents) != 1 || got.Intents[0].Epoch != got.Epoch || got.Intents[0].Owner != "operator ann" || !got.Intents[0].Deadline.Before(noon.Add(-time.Minute)) {
		t.Errorf("record %+v", got)
	}
	if r.records["autumn"].Epoch != 0 {
		t.Error("a code that was never pushed has a record")
	}
	r.contend = 100
	if _, err := r.desk.Carry(t.Context(), repush(order(decision.Refresh, spring))); err == nil || !strings.Contains(err.Error(), "try it again") {
		t.Errorf("a record that changes all the time: %v", err)
	}
}

// The facts of one code that nobody can read keep nobody on the lists of the others.
func TestFactsThatAreNotValid(t *testing.T) {
	r := newRig(t)
	r.record("spring", "li.na", "wang")
	r.broken = "autumn"
	_, err := r.desk.Carry(t.Context(), order(decision.Suspend, liNa))
	if harm, ok := errors.AsType[*intervene.HarmError](err); !ok || len(harm.Harm) != 1 || harm.Harm[0].What != intervene.NotPushed {
		t.Errorf("unasked: %v", err)
	}
	r.carry(insist(order(decision.Suspend, liNa)))
	if !r.staff("li.na").Off.Active(noon) {
		t.Error("he is not taken off")
	}
	if done := r.carry(repush(order(decision.Refresh, acme))); done.Repushed != 1 {
		t.Errorf("%d lists are pushed, want the other one", done.Repushed)
	}
}

func order(action decision.Action, s intervene.Subject) intervene.Order {
	return intervene.Order{Action: action, Subject: s, By: "ann", Why: "incident 42"}
}

func until(o intervene.Order, at time.Time) intervene.Order { o.Until = at; return o }

func lane(o intervene.Order, to roster.LaneSwitch) intervene.Order { o.Lane = to; return o }

func repush(o intervene.Order) intervene.Order { o.Repush = true; return o }

func insist(o intervene.Order) intervene.Order { o.Insist = true; return o }

func subject(staff string) intervene.Subject {
	return intervene.Subject{Kind: intervene.Staff, Tenant: "acme", ID: staff}
}

// rig is a desk on fakes: tenant acme with li.na and wang on spring and li.na alone
// on autumn.
type rig struct {
	*testing.T
	facts   *registrytest.Memory
	records map[string]push.Record
	broken  string // the code whose facts are not valid
	contend int    // Begins that lose against another
	resumed []time.Time
	dirty   []dirty.Seen // About is the reason
	woken   []string
	events  []string
	book    *decisiontest.Book
	desk    intervene.Desk
}

func newRig(t *testing.T) *rig {
	now := func() time.Time { return noon }
	r := &rig{T: t, facts: registrytest.NewMemory(now), records: map[string]push.Record{}, book: decisiontest.NewBook()}
	member := func(names ...string) (members []roster.Member) {
		for _, name := range names {
			members = append(members, roster.Member{Staff: name})
		}
		return members
	}
	code := func(id string, names ...string) registry.Code {
		return registry.Code{Code: roster.Code{ID: id, ConfigID: "cfg-" + id, Family: roster.Native, Members: member(names...), Switches: roster.Switches{OfflineCheck: true}}}
	}
	r.facts.Seed(registry.Tenant{Tenant: roster.Tenant{ID: "acme"}},
		[]registry.Staff{{Staff: roster.Staff{ID: "li.na"}}, {Staff: roster.Staff{ID: "wang"}}},
		[]registry.Code{code("spring", "li.na", "wang"), code("autumn", "li.na"), {Code: roster.Code{ID: "gone", Family: roster.Native, Members: member("li.na"), Deleted: true}}})
	r.desk = intervene.Desk{
		Registry: registry.New(registry.Options{Facts: r.facts, Publisher: r, FanOuts: r, Now: now}),
		Records:  r, Dirty: dirtySet{r}, Book: r.book, Rules: roster.LaneRules{FastFor: time.Hour, SlowInterval: 30 * time.Minute}, Rate: 3.33, Now: now,
	}
	return r
}

func (r *rig) carry(o intervene.Order) intervene.Done {
	r.Helper()
	done, err := r.desk.Carry(r.Context(), o)
	if err != nil {
		r.Fatalf("%s %s: %v", o.Action, o.Subject, err)
	}
	return done
}

func (r *rig) decided() []decision.Decision {
	r.Helper()
	all, err := r.book.List(r.Context(), 100)
	if err != nil {
		r.Fatal(err)
	}
	return all
}

func (r *rig) record(code string, members ...string) {
	r.records[code] = push.Record{Code: code, Epoch: 1, Committed: push.Committed{Members: members, Epoch: 1, At: noon}}
}

func (r *rig) offline(staff string) {
	who := r.staff(staff)
	who.Presence = roster.OfflineNow
	r.facts.Seed(r.tenant(), []registry.Staff{who}, nil)
}

func (r *rig) failing(code string) {
	record := r.records[code]
	record.Failure = push.Failure{Streak: 4, NotBefore: at14}
	r.records[code] = record
}

// hold keeps all of the tenant's lists.
func (r *rig) hold(until time.Time) {
	company := r.tenant()
	company.Hold = roster.Stop{Since: noon.Add(-time.Hour), Until: until}
	r.facts.Seed(company, nil, nil)
}

func (r *rig) shadow() {
	one := r.code("spring")
	one.Mode = roster.Shadow
	r.facts.Seed(r.tenant(), nil, []registry.Code{one})
}

func (r *rig) manyCodes() {
	var codes []registry.Code
	for i := range 300 {
		codes = append(codes, registry.Code{Code: roster.Code{ID: fmt.Sprintf("many-%03d", i), Family: roster.Native}})
	}
	r.facts.Seed(r.tenant(), nil, codes)
}

func (r *rig) tenant() registry.Tenant {
	company, err := r.facts.Tenant(r.Context(), "acme")
	if err != nil {
		r.Fatal(err)
	}
	return company
}

func (r *rig) staff(id string) registry.Staff {
	people, err := r.facts.StaffOf(r.Context(), "acme", []string{id})
	if err != nil {
		r.Fatal(err)
	}
	return people[id]
}

func (r *rig) code(id string) registry.Code {
	codes, err := r.facts.CodesOf(r.Context(), "acme", []string{id})
	if err != nil {
		r.Fatal(err)
	}
	return codes[id]
}

func (r *rig) wantStop(what string, want, got roster.Stop) {
	r.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Refresh is registry.Publisher's.
func (r *rig) Refresh(_ context.Context, ref push.Ref, why string) (publish.Place, error) {
	r.events = append(r.events, "event "+ref.Tenant+"/"+ref.Code+" "+why)
	return publish.Broker, nil
}

// Request is fanout.Requester's.
func (r *rig) Request(_ context.Context, request fanout.Request) (fanout.Ticket, error) {
	r.events = append(r.events, "fan-out "+request.Tenant+"/"+request.Staff+" "+request.Why)
	return fanout.Ticket{ID: "job"}, nil
}

// Load, Begin, SetFailure and Resume are intervene.Records'.
func (r *rig) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	if ref.Code == r.broken {
		return roster.Facts{}, push.Record{}, fmt.Errorf("code %s: %w", ref.Code, push.ErrInvalidFacts)
	}
	codes, err := r.facts.CodesOf(ctx, ref.Tenant, []string{ref.Code})
	one, there := codes[ref.Code]
	if err != nil || !there {
		return roster.Facts{}, push.Record{}, errors.Join(push.ErrUnknownCode, err)
	}
	facts := roster.Facts{Code: one.Code, Tenant: r.tenant().Tenant, Staff: map[string]roster.Staff{}}
	for _, m := range one.Members {
		facts.Staff[m.Staff] = r.staff(m.Staff).Staff
	}
	return facts, r.records[ref.Code], nil
}

func (r *rig) Begin(_ context.Context, ref push.Ref, seen int64, intent push.Intent) (bool, error) {
	record := r.records[ref.Code]
	if r.contend > 0 {
		r.contend--
		record.Epoch++
		r.records[ref.Code] = record
	}
	if record.Epoch != seen {
		return false, nil
	}
	record.Epoch, record.Intents = intent.Epoch, append(record.Intents, intent)
	r.records[ref.Code] = record
	return true, nil
}

func (r *rig) SetFailure(_ context.Context, ref push.Ref, failure push.Failure) error {
	record := r.records[ref.Code]
	record.Failure = failure
	r.records[ref.Code] = record
	return nil
}

func (r *rig) Resume(_ context.Context, _ string, seen time.Time) error {
	r.resumed = append(r.resumed, seen)
	return nil
}

// dirtySet is the rig's intervene.Dirty.
type dirtySet struct{ r *rig }

func (d dirtySet) Get(_ context.Context, ref push.Ref) (dirty.Seen, bool, error) {
	i := slices.IndexFunc(d.r.dirty, func(s dirty.Seen) bool { return s.Ref == ref })
	if i < 0 {
		return dirty.Seen{}, false, nil
	}
	return d.r.dirty[i], true, nil
}

func (d dirtySet) OfReason(_ context.Context, tenant string, why reason.Reason, limit int) (found []dirty.Seen, err error) {
	for _, s := range d.r.dirty {
		if s.Tenant == tenant && s.About == why.String() && len(found) < limit {
			found = append(found, s)
		}
	}
	return found, nil
}

func (d dirtySet) DueNow(_ context.Context, seen dirty.Seen, _ time.Time) (bool, error) {
	d.r.woken = append(d.r.woken, seen.Code)
	return true, nil
}
