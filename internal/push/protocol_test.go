package push_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var t0 = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC) // a Monday, noon in Shanghai

const (
	callTimeout = 5 * time.Second
	margin      = 3 * time.Second
)

type closedBreaker struct{}

func (closedBreaker) Allow(string) (bool, time.Time) { return true, time.Time{} }

func options(clock *pushtest.Clock) push.Options {
	return push.Options{
		Owner: "test", CallTimeout: callTimeout, IntentMargin: margin, ParkAfter: 2 * time.Minute,
		Backoff: push.Backoff{Base: 500 * time.Millisecond, Cap: 4 * time.Second}, MaxFailures: 4, Now: clock.Now,
	}
}

// seedFacts makes a code c1 of tenant acme with ann, bob and cyd, all online.
func seedFacts(store *pushtest.Store, family roster.Family) {
	store.PutTenant(roster.Tenant{ID: "acme"})
	for _, id := range []string{"ann", "bob", "cyd"} {
		store.PutStaff("acme", roster.Staff{ID: id, Presence: roster.Online})
	}
	store.PutStaff("acme", roster.Staff{ID: "eve", Presence: roster.Online})
	store.PutCode(roster.Code{
		ID: "c1", Tenant: "acme", ConfigID: "cfg1", Family: family, Revision: 1, CreatedAt: t0, UpdatedAt: t0,
		Members:  []roster.Member{{Staff: "ann"}, {Staff: "bob"}, {Staff: "cyd"}},
		Backups:  []string{"eve"},
		Switches: roster.Switches{OfflineCheck: true},
		Remark:   "stand 4",
	})
}

// rig is a protocol on fakes.
type rig struct {
	*testing.T
	clock    *pushtest.Clock
	store    *pushtest.Store
	rotation *pushtest.Rotation
	budget   *pushtest.Budget
	vendor   *pushtest.Vendor
	shadows  *pushtest.Shadows
	breaker  push.Breaker
	opts     push.Options
	ref      push.Ref
	observed int
}

func newRig(t *testing.T, family roster.Family) *rig {
	clock := pushtest.NewClock(t0)
	r := &rig{
		T: t, clock: clock, store: pushtest.NewStore(), rotation: pushtest.NewRotation(), budget: pushtest.NewBudget(clock),
		vendor: pushtest.NewVendor(clock), shadows: pushtest.NewShadows(), breaker: closedBreaker{}, opts: options(clock), ref: push.Ref{Tenant: "acme", Code: "c1"},
	}
	seedFacts(r.store, family)
	r.vendor.AddWay("cfg1")
	return r
}

func (r *rig) ports() push.Ports {
	return push.Ports{Store: r.store, Rotation: r.rotation, Budget: r.budget, Vendor: r.vendor, Breaker: r.breaker, Shadows: r.shadows}
}

func (r *rig) refresh() push.Outcome {
	return push.New(r.ports(), r.opts).Refresh(context.Background(), r.ref, func() { r.observed++ })
}

func (r *rig) want(outcome push.Outcome) {
	r.Helper()
	if diff := cmp.Diff(outcome, r.refresh(), cmpopts.EquateErrors(), cmpopts.IgnoreFields(push.Mark{}, "Detail")); diff != "" {
		r.Errorf("outcome (-want +got):\n%s", diff)
	}
}

func (r *rig) wantListed(members ...string) {
	r.Helper()
	way, _ := r.vendor.Way("cfg1")
	if diff := cmp.Diff(members, way.Members, cmpopts.EquateEmpty()); diff != "" {
		r.Errorf("members at WeCom (-want +got):\n%s", diff)
	}
}

func (r *rig) setPresence(id string, p roster.Presence) {
	r.store.EditStaff("acme", id, func(s *roster.Staff) { s.Presence = p })
}

func (r *rig) answer(a pushtest.Answer) {
	r.vendor.Answer = func(push.Call) pushtest.Answer { return a }
}

func TestPushesTheListAndRecordsIt(t *testing.T) {
	r := newRig(t, roster.Native)
	r.setPresence("bob", roster.OfflineNow)
	r.want(push.Done{Reason: reason.Pushed})
	r.wantListed("ann", "cyd")
	sent := r.vendor.Sent()
	if len(sent) != 1 || sent[0].Remark != "stand 4" {
		t.Errorf("sent %+v; want one call that keeps the remark", sent)
	}
	record := r.store.Record(r.ref)
	if record.Epoch != 1 || len(record.Intents) != 0 || record.Committed.Epoch != 1 || record.Committed.Revision != 1 {
		t.Errorf("record %+v; want epoch 1 committed and nothing open", record)
	}
	if r.observed != 2 {
		t.Errorf("observed %d times; want once before each of the two reads", r.observed)
	}
}

func TestSameListIsNotPushedAgain(t *testing.T) {
	r := newRig(t, roster.Native)
	r.want(push.Done{Reason: reason.Pushed})
	r.want(push.Done{Reason: reason.Unchanged})
	if n := len(r.vendor.Sent()); n != 1 {
		t.Errorf("%d calls; want 1", n)
	}
	if len(r.budget.GivenBack()) != 1 {
		t.Error("a slot that is not needed was not given back")
	}
}

func TestARecordThatContradictsItselfIsNotTrusted(t *testing.T) {
	r := newRig(t, roster.Native)
	r.want(push.Done{Reason: reason.Pushed})
	record := r.store.Record(r.ref)
	record.Committed.Members = []string{"ann", "zoe"} // beside the hash of ann, bob and cyd
	r.store.PutRecord(r.ref, record)
	r.want(push.Done{Reason: reason.Pushed})
	if got := r.store.Record(r.ref).Committed.Members; len(got) != 3 {
		t.Errorf("committed %v; want the list that was pushed", got)
	}
	r.want(push.Done{Reason: reason.Unchanged})
}

func TestOpenIntentForcesAPush(t *testing.T) {
	r := newRig(t, roster.Native)
	r.want(push.Done{Reason: reason.Pushed})
	record := r.store.Record(r.ref)
	record.Epoch = 2
	record.Intents = []push.Intent{{Epoch: 2, Hash: "other", Deadline: t0.Add(-time.Minute)}}
	r.store.PutRecord(r.ref, record)
	r.want(push.Done{Reason: reason.Pushed})
	if got := r.store.Record(r.ref); len(got.Intents) != 0 || len(r.vendor.Sent()) != 2 {
		t.Errorf("record %+v after %d calls; want a second push that settles the old intent", got, len(r.vendor.Sent()))
	}
}

func TestCallThatMayStillLandKeepsTheEventOpen(t *testing.T) {
	r := newRig(t, roster.Native)
	deadline := t0.Add(4 * time.Second)
	r.store.PutRecord(r.ref, push.Record{Code: "c1", Epoch: 1, Intents: []push.Intent{{Epoch: 1, Deadline: deadline}}})
	r.want(push.Hold{Until: deadline.Add(margin), Cause: reason.Unsettled})
	r.clock.Set(deadline.Add(margin + 1))
	r.want(push.Done{Reason: reason.Pushed})
	r.want(push.Done{Reason: reason.Unchanged})
}

func TestFactsThatChangeDuringThePushArePushedToo(t *testing.T) {
	r := newRig(t, roster.Native)
	r.vendor.Step = func(op string) {
		if op == pushtest.OpUpdate && len(r.vendor.Sent()) == 0 {
			r.setPresence("cyd", roster.OfflineNow)
		}
	}
	r.want(push.Done{Reason: reason.Pushed})
	r.wantListed("ann", "bob")
	if n := len(r.vendor.Sent()); n != 2 {
		t.Errorf("%d calls; want the old list and then the new one", n)
	}
}

func TestStopgapKeepsWhatWasJustPushedNotWhatWasCommittedBefore(t *testing.T) {
	r := newRig(t, roster.Native)
	r.want(push.Done{Reason: reason.Pushed})
	for _, id := range []string{"ann", "bob", "cyd"} {
		r.setPresence(id, roster.OfflineNow) // eve, the backup, is left
	}
	r.vendor.Step = func(op string) {
		if op == pushtest.OpUpdate {
			r.setPresence("eve", roster.OfflineNow) // nobody is left: the last list is kept
		}
	}
	r.want(push.Done{Reason: reason.Pushed})
	r.wantListed("eve")
	if got := r.store.Record(r.ref).Committed.Members; !cmp.Equal(got, []string{"eve"}) || len(r.vendor.Sent()) != 2 {
		t.Errorf("committed %v after %d calls; want eve alone after 2", got, len(r.vendor.Sent()))
	}
}

func TestChangeOfHeadroomAloneRewritesTheSetWithoutASecondPush(t *testing.T) {
	r := newRig(t, roster.Quota)
	r.store.EditCode("c1", func(c *roster.Code) {
		c.Switches.AddLimit = true
		for i := range c.Members {
			c.Members[i].AddLimit = 5
		}
	})
	r.vendor.Step = func(op string) {
		if op == pushtest.OpUpdate {
			r.store.CountAddition(r.ref, "ann", "20260302")
		}
	}
	r.want(push.Done{Reason: reason.Pushed})
	set, _ := r.rotation.Set(r.ref)
	want := []roster.Seat{{Staff: "ann", Headroom: 4, Counted: 1}, {Staff: "bob", Headroom: 5}, {Staff: "cyd", Headroom: 5}}
	if diff := cmp.Diff(want, set.Seats); diff != "" {
		t.Errorf("seats (-want +got):\n%s", diff)
	}
	if n := len(r.vendor.Sent()); n != 1 {
		t.Errorf("%d calls; want 1, for the list is the same", n)
	}
}

func TestSetIsWrittenAtOnceEvenIfThePushHasToWait(t *testing.T) {
	r := newRig(t, roster.Sequenced)
	until := t0.Add(10 * time.Second)
	r.budget.Answer = func(push.Ask) (push.Admission, error) {
		return push.Admission{At: until, Booked: true, Cause: reason.Throttled}, nil
	}
	r.want(push.Hold{Until: until, Cause: reason.Throttled})
	if set, ok := r.rotation.Set(r.ref); !ok || len(set.Seats) != 3 {
		t.Errorf("set %+v, %v; want three seats", set, ok)
	}
	if r.store.Record(r.ref).Epoch != 0 {
		t.Error("a push that has to wait was announced")
	}
}

func TestWaits(t *testing.T) {
	slow := roster.LaneRules{SlowInterval: 10 * time.Second}
	cases := []struct {
		name  string
		setUp func(*rig)
		want  push.Outcome
	}{
		{"no slot within the horizon", func(r *rig) {
			r.budget.Answer = func(push.Ask) (push.Admission, error) {
				return push.Admission{At: t0.Add(time.Hour), Cause: reason.Blocked}, nil
			}
		}, push.Park{Mark: push.Mark{Ref: push.Ref{Tenant: "acme", Code: "c1"}, Reason: reason.Blocked, Due: t0.Add(time.Hour)}}},
		{"a backoff out of the record", func(r *rig) {
			r.store.PutRecord(r.ref, push.Record{Failure: push.Failure{Streak: 2, NotBefore: t0.Add(3 * time.Second)}})
		}, push.Hold{Until: t0.Add(3 * time.Second), Cause: reason.Backoff}},
		{"the slow lane after a commit", func(r *rig) {
			r.opts.Lanes = slow
			r.store.PutRecord(r.ref, push.Record{Epoch: 1, Committed: push.Committed{Epoch: 1, At: t0.Add(-4 * time.Second), Hash: "old", Members: []string{"ann"}}})
		}, push.Hold{Until: t0.Add(6 * time.Second), Cause: reason.SlowLane}},
		{"the slow lane without a commit", func(r *rig) { r.opts.Lanes = slow }, push.Done{Reason: reason.Pushed, Slow: true}},
		{
			"an open breaker", func(r *rig) { r.breaker = openUntil(t0.Add(time.Second)) },
			push.Hold{Until: t0.Add(time.Second), Cause: reason.BreakerOpen},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, roster.Native)
			c.setUp(r)
			r.want(c.want)
		})
	}
}

type openUntil time.Time

func (o openUntil) Allow(string) (bool, time.Time) { return false, time.Time(o) }

func TestRefusals(t *testing.T) {
	refused := func(code int) pushtest.Answer {
		return pushtest.Answer{Err: &push.CallError{Op: "update_contact_way", HTTPStatus: 200, ErrCode: code}, Lost: true}
	}
	backoff := options(pushtest.NewClock(t0)).Backoff
	retry := t0.Add(backoff.After(1, "c1"))
	cases := []struct {
		name    string
		answer  pushtest.Answer
		want    push.Outcome
		streak  int
		intents int
	}{
		{"frequency", refused(45009), push.Hold{Until: t0.Add(pushtest.BlockLasts), Cause: reason.Blocked}, 0, 0},
		{"concurrency", refused(45033), push.Hold{Until: t0.Add(pushtest.BlockLasts), Cause: reason.Blocked}, 0, 0},
		{"busy", refused(-1), push.Hold{Until: retry, Cause: reason.Backoff}, 1, 0},
		{
			"frequency, but of the token's API",
			pushtest.Answer{Err: &push.CallError{Op: "gettoken", HTTPStatus: 200, ErrCode: 45009}, Lost: true},
			push.Hold{Until: retry, Cause: reason.Backoff},
			1, 0,
		},
		{"a code nobody knows", refused(99999), push.Hold{Until: retry, Cause: reason.Backoff}, 1, 0},
		{"every member", refused(40003), push.Hold{Until: retry, Cause: reason.Backoff}, 1, 0},
		{"credentials", refused(40001), push.Hold{Until: t0.Add(30 * time.Second), Cause: reason.Suspended}, 0, 0},
		{"no answer", pushtest.Answer{Err: &push.CallError{Op: "update_contact_way", Unknown: true}}, push.Hold{Until: retry, Cause: reason.Backoff}, 1, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, roster.Native)
			r.answer(c.answer)
			r.want(c.want)
			record := r.store.Record(r.ref)
			if record.Failure.Streak != c.streak || len(record.Intents) != c.intents {
				t.Errorf("record %+v; want streak %d and %d intents", record, c.streak, c.intents)
			}
			if record.Committed.Epoch != 0 {
				t.Error("committed without a push")
			}
		})
	}
}

func TestGoneIsConfirmedBeforeTheCodeIsGivenUp(t *testing.T) {
	gone := pushtest.Answer{Err: &push.CallError{Op: "update_contact_way", ErrCode: 41044}, Lost: true}
	t.Run("WeCom still knows it", func(t *testing.T) {
		r := newRig(t, roster.Sequenced)
		r.answer(gone)
		r.want(push.Hold{Until: t0.Add(r.opts.Backoff.After(1, "c1")), Cause: reason.Backoff})
	})
	t.Run("WeCom does not", func(t *testing.T) {
		r := newRig(t, roster.Sequenced)
		r.vendor.RemoveWay("cfg1")
		r.want(push.Done{Reason: reason.Deleted})
		if _, ok := r.rotation.Set(r.ref); ok {
			t.Error("the rotation set of a deleted code is left")
		}
		r.want(push.Done{Reason: reason.Deleted})
	})
}

func TestFailuresInARowEndInTheDirtySet(t *testing.T) {
	r := newRig(t, roster.Native)
	r.answer(pushtest.Answer{Err: &push.CallError{Op: "update_contact_way", ErrCode: -1}, Lost: true})
	for range r.opts.MaxFailures - 1 {
		if _, ok := r.refresh().(push.Hold); !ok {
			t.Fatal("a failure within the limit is not a hold")
		}
		r.clock.Advance(r.opts.Backoff.Cap)
	}
	r.want(push.Park{Mark: push.Mark{Ref: r.ref, Reason: reason.Transient, Due: r.clock.Now().Add(10 * time.Minute)}})
	r.vendor.Answer = nil
	r.clock.Advance(time.Minute)
	r.want(push.Done{Reason: reason.Pushed})
	if got := r.store.Record(r.ref).Failure; got != (push.Failure{}) {
		t.Errorf("failure %+v after a success", got)
	}
}

func TestFactsThatAreMissingOrWrongArePutWhereTheyCanBeListed(t *testing.T) {
	cases := []struct {
		name  string
		setUp func(*rig)
		want  reason.Reason
	}{
		{"unknown code", func(r *rig) { r.ref.Code = "c404" }, reason.UnknownCode},
		{"unknown tenant", func(r *rig) {
			r.store.PutCode(roster.Code{ID: "c2", Tenant: "nobody", Family: roster.Native})
			r.ref = push.Ref{Tenant: "nobody", Code: "c2"}
		}, reason.UnknownTenant},
		{"another tenant's code", func(r *rig) { r.store.PutTenant(roster.Tenant{ID: "globex"}); r.ref.Tenant = "globex" }, reason.WrongTenant},
		{"unknown time zone", func(r *rig) { r.store.EditTenant("acme", func(t *roster.Tenant) { t.TimeZone = "Mars/Olympus" }) }, reason.InvalidFacts},
		{"nobody left", func(r *rig) {
			for _, id := range []string{"ann", "bob", "cyd", "eve"} {
				r.setPresence(id, roster.OfflineNow)
			}
		}, reason.NobodyLeft},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, roster.Native)
			c.setUp(r)
			out, ok := r.refresh().(push.Park)
			if !ok || out.Mark.Reason != c.want || out.Mark.Ref != r.ref || !out.Mark.Due.After(t0) {
				t.Errorf("outcome %+v; want a park for %s that is due later", out, c.want)
			}
			if len(r.vendor.Sent()) != 0 {
				t.Error("something was pushed")
			}
		})
	}
}

func TestStoreThatCannotBeAskedFailsAndLosesNothing(t *testing.T) {
	down := errors.New("connection refused")
	for _, op := range []string{
		pushtest.OpReadRecord, pushtest.OpReadStaff, pushtest.OpRotationVersion, pushtest.OpRotationReplace,
		pushtest.OpAdmit, pushtest.OpBegin, pushtest.OpCommit,
	} {
		t.Run(op, func(t *testing.T) {
			r := newRig(t, roster.Sequenced)
			failing := true
			hook := func(o string) error {
				if failing && o == op {
					return down
				}
				return nil
			}
			r.store.Before, r.rotation.Before, r.budget.Before = hook, hook, hook
			out, ok := r.refresh().(push.Fail)
			if !ok || out.Class != reason.StoreDown || !errors.Is(out.Err, down) {
				t.Fatalf("outcome %+v; want a failure of the store that names its cause", out)
			}
			failing = false
			r.clock.Advance(time.Minute)
			r.want(push.Done{Reason: reason.Pushed})
			r.wantListed("ann", "bob", "cyd")
		})
	}
}

func TestAdmissionThatRanOutIsAskedForAnew(t *testing.T) {
	r := newRig(t, roster.Native)
	slow := true
	r.store.After = func(op string) error {
		if op == pushtest.OpBegin && slow {
			slow = false
			r.clock.Advance(pushtest.GrantLasts + time.Millisecond)
		}
		return nil
	}
	r.want(push.Done{Reason: reason.Pushed})
	if n := len(r.budget.Asks()); n != 2 {
		t.Errorf("asked %d times; want twice", n)
	}
	for _, sent := range r.vendor.Sent() {
		if sent.At.After(sent.Deadline) {
			t.Errorf("sent at %v, past its deadline %v", sent.At, sent.Deadline)
		}
	}
}

func TestSupersededPushDoesNotCommit(t *testing.T) {
	r := newRig(t, roster.Native)
	stolen := false
	r.vendor.After = func(op string) error {
		if op == pushtest.OpUpdate && !stolen {
			stolen = true
			ok, err := r.store.Begin(context.Background(), r.ref, 1, push.Intent{Epoch: 2, Owner: "sibling", Deadline: t0.Add(callTimeout)})
			if !ok || err != nil {
				t.Fatalf("sibling's begin: %v, %v", ok, err)
			}
		}
		return nil
	}
	r.want(push.Hold{Until: t0.Add(r.opts.Backoff.Base), Cause: reason.Contended})
	record := r.store.Record(r.ref)
	if record.Committed.Epoch != 0 || len(record.Intents) != 2 {
		t.Errorf("record %+v; want nothing committed and both intents open", record)
	}
}

func TestRemovalSaysSoToTheBudget(t *testing.T) {
	r := newRig(t, roster.Native)
	r.want(push.Done{Reason: reason.Pushed})
	r.setPresence("ann", roster.OfflineNow)
	r.want(push.Done{Reason: reason.Pushed})
	r.setPresence("ann", roster.Online)
	r.want(push.Done{Reason: reason.Pushed})
	var removes []bool
	for _, ask := range r.budget.Asks() {
		removes = append(removes, ask.Removes)
	}
	if diff := cmp.Diff([]bool{false, true, false}, removes); diff != "" {
		t.Errorf("removes (-want +got):\n%s", diff)
	}
}

func TestRoundAdvancesInTheFactsBeforeThePush(t *testing.T) {
	r := newRig(t, roster.Sequenced)
	r.store.EditCode("c1", func(c *roster.Code) {
		c.Switches.RoundLimit = true
		for i := range c.Members {
			c.Members[i].RoundLimit = 1
		}
	})
	for _, id := range []string{"ann", "bob", "cyd"} {
		r.store.CountAddition(r.ref, id, "20260302")
	}
	r.want(push.Done{Reason: reason.Pushed})
	if got := r.store.Peek(r.ref).Counters.Round; got != 1 {
		t.Errorf("round %d in the facts; want 1", got)
	}
	set, _ := r.rotation.Set(r.ref)
	if set.Round != 1 || len(set.Seats) != 3 {
		t.Errorf("set %+v; want all three in round 1", set)
	}
}

func TestPanicIsAFailureOfThatCode(t *testing.T) {
	r := newRig(t, roster.Native)
	r.vendor.Answer = func(push.Call) pushtest.Answer { panic("index out of range") }
	out, ok := r.refresh().(push.Fail)
	if !ok || out.Class != reason.Panicked {
		t.Fatalf("outcome %+v; want a failure by panic", out)
	}
	r.vendor.Answer = nil
	r.clock.Advance(time.Minute)
	r.want(push.Done{Reason: reason.Pushed})
}

func TestDeletedCodeIsNotPushed(t *testing.T) {
	r := newRig(t, roster.Native)
	r.store.EditCode("c1", func(c *roster.Code) { c.Deleted = true })
	r.want(push.Done{Reason: reason.Deleted})
	if len(r.vendor.Sent()) != 0 {
		t.Error("a deleted code was pushed")
	}
}

func TestEditThatLeavesTheListAsItIsReachesTheRecord(t *testing.T) {
	r := newRig(t, roster.Native)
	r.want(push.Done{Reason: reason.Pushed})
	r.store.EditCode("c1", func(c *roster.Code) { c.Revision = 7 })
	r.want(push.Done{Reason: reason.Unchanged})
	if got := r.store.Record(r.ref).Committed.Revision; got != 7 {
		t.Errorf("revision %d in the record; want 7, or a later loss of members would pass for this edit", got)
	}
}

func TestDeletedCodeLeavesNoIntentBehind(t *testing.T) {
	r := newRig(t, roster.Native)
	r.store.PutRecord(r.ref, push.Record{Epoch: 1, Intents: []push.Intent{{Epoch: 1, Deadline: t0.Add(-time.Minute)}}})
	r.store.EditCode("c1", func(c *roster.Code) { c.Deleted = true })
	r.want(push.Done{Reason: reason.Deleted})
	if n := len(r.store.Record(r.ref).Intents); n != 0 {
		t.Errorf("%d intents left; the keeper would bring the code back for ever", n)
	}
}

func TestNoteOfAnUnchangedListReachesTheRecord(t *testing.T) {
	r := newRig(t, roster.Native)
	r.want(push.Done{Reason: reason.Pushed})
	for _, id := range []string{"ann", "bob", "cyd", "eve"} {
		r.setPresence(id, roster.OfflineNow)
	}
	r.want(push.Done{Reason: reason.Unchanged})
	if diff := cmp.Diff([]reason.Reason{reason.NobodyLeft}, r.store.Record(r.ref).Committed.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	r.wantListed("ann", "bob", "cyd")
}

// TestOlderFactsLeaveTheRecordsRevision: a slow reader would otherwise turn the
// next loss of members into an edit that was meant.
func TestOlderFactsLeaveTheRecordsRevision(t *testing.T) {
	r := newRig(t, roster.Native)
	r.want(push.Done{Reason: reason.Pushed})
	record := r.store.Record(r.ref)
	record.Committed.Revision = 9
	r.store.PutRecord(r.ref, record)
	r.want(push.Done{Reason: reason.Unchanged})
	if got := r.store.Record(r.ref).Committed.Revision; got != 9 {
		t.Errorf("revision %d in the record; want 9, which somebody with newer facts has written", got)
	}
}
