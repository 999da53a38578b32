package desk_test

import (
	"cmp"
	"errors"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/intake/desk"
	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var now = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func TestADoneCodeIsAcked(t *testing.T) {
	d, work := atWork(t, 1, message{id: 7})
	got := d.Settle(work, push.Done{Reason: reason.Pushed}, now)
	if got.Mark != nil || !gocmp.Equal([]message{{id: 7}}, got.Acks, same) {
		t.Errorf("settled as %+v; want an ack of message 7 alone", got)
	}
}

func TestAHoldWaitsHere(t *testing.T) {
	d, work := atWork(t, 1, message{id: 7})
	got := d.Settle(work, push.Hold{Until: now.Add(time.Second), Cause: reason.Throttled}, now)
	if got.Mark != nil || len(got.Acks) != 0 || d.Held() != 1 {
		t.Errorf("settled as %+v with %d held; want a hold and nothing acked", got, d.Held())
	}
}

func TestAHoldTooManyIsDirtyBeforeItIsAcked(t *testing.T) {
	d, work := atWork(t, 0, message{id: 7})
	got := d.Settle(work, push.Hold{Until: now.Add(10 * time.Second), Cause: reason.Throttled}, now)
	if got.Mark == nil || len(got.Acks) != 0 {
		t.Fatalf("settled as %+v; want a mark and no ack yet", got)
	}
	want := push.Mark{
		Ref: push.Ref{Tenant: "acme", Code: "c1"}, Reason: reason.Overflow,
		Detail: "too many codes are held; this one waits for: throttled",
		Due:    now.Add(8500 * time.Millisecond), // early enough to be back for a slot
	}
	if diff := gocmp.Diff(want, *got.Mark); diff != "" {
		t.Errorf("mark (-want +got):\n%s", diff)
	}
	if got := d.Marked(work, want, nil, now); !gocmp.Equal([]message{{id: 7}}, got.Acks, same) {
		t.Errorf("after the mark: %+v; want message 7 acked", got)
	}
}

func TestAParkThatIsNotStoredWaitsHere(t *testing.T) {
	d, work := atWork(t, 0, message{id: 7})
	d.Settle(work, push.Park{Mark: push.Mark{Reason: reason.Backoff}}, now)
	got := d.Marked(work, push.Mark{Reason: reason.Backoff}, errors.New("no answer"), now)
	kind, why := push.Describe(got.Outcome)
	if len(got.Acks) != 0 || d.Held() != 1 || kind != "fail" || why != reason.StoreDown {
		t.Errorf("settled as %s %s, %d acks, %d held; want a failure that is held", kind, why, len(got.Acks), d.Held())
	}
}

func TestAFailureWaitsTwiceAsLongWithEveryRedelivery(t *testing.T) {
	for redeliveries, seconds := range []int{1, 2, 4, 8, 10, 10} {
		d, work := atWork(t, 0, message{id: 7, redeliveries: uint32(redeliveries)})
		d.Settle(work, push.Fail{Class: reason.StoreDown, Err: errors.New("no answer")}, now)
		due, _ := d.NextDue()
		if got := due.Sub(now).Seconds(); got != float64(seconds) {
			t.Errorf("after %d redeliveries: waits %v s; want %d s", redeliveries, got, seconds)
		}
	}
}

func TestACodeThatPanicsAgainAndAgainIsDirty(t *testing.T) {
	out := push.Fail{Class: reason.Panicked, Err: errors.New("index out of range")}
	for redeliveries, dirty := range []bool{false, false, true} {
		d, work := atWork(t, 1, message{id: 7, redeliveries: uint32(redeliveries)})
		if got := d.Settle(work, out, now); (got.Mark != nil) != dirty {
			t.Errorf("after %d redeliveries: %+v; want dirty %v", redeliveries, got, dirty)
		}
	}
}

func TestAMissingOutcomeIsAFailure(t *testing.T) {
	d, work := atWork(t, 1, message{id: 7})
	if got := d.Settle(work, nil, now); len(got.Acks) != 0 || d.Held() != 1 {
		t.Errorf("settled as %+v; want the code held", got)
	}
}

// TestLongLinesAreShed: beyond three quarters of MaxHeld, however the codes
// wait, and down to the line that a tenant may always have.
func TestLongLinesAreShed(t *testing.T) {
	d := newDesk(16)
	for i := range 12 {
		d.Touch(touch("storm", i), now)
	}
	if works, _ := d.Shed(now); len(works) != 0 || d.Crowded() {
		t.Fatalf("%d codes shed of 12 with room for 16", len(works))
	}
	for i := range 4 {
		d.Touch(touch("calm"+strconv.Itoa(i), 100+i), now)
	}
	if !d.Full() || !d.Crowded() {
		t.Error("16 codes are not full")
	}
	works, marks := d.Shed(now)
	if len(works) != 5 || len(marks) != 5 {
		t.Fatalf("%d codes and %d marks; want the 4 over three quarters and some to spare", len(works), len(marks))
	}
	for i, mark := range marks {
		if mark.Tenant != "storm" || mark.Code != works[i].Code || mark.Reason != reason.Overflow || !mark.Due.Equal(now) {
			t.Errorf("mark %+v of %v; want the storm's, due at once", mark, works[i].Key)
		}
		if got := d.Marked(works[i], mark, nil, now); len(got.Acks) != 1 {
			t.Errorf("%v: %d acks", works[i].Key, len(got.Acks))
		}
	}
	if d.Full() || d.Crowded() || d.Unacked() != 11 {
		t.Errorf("%d un-acked after 5 of 16 are parked", d.Unacked())
	}
}

func TestHeldCodesLeaveAQuarterForOthers(t *testing.T) {
	d := newDesk(4)
	for i := range 4 {
		d.Touch(touch("acme", i), now)
		work, _ := d.Next(now)
		got := d.Settle(work, push.Hold{Until: now.Add(time.Second), Cause: reason.Throttled}, now)
		if parked := got.Mark != nil; parked != (i == 3) {
			t.Errorf("code %d of 4: parked %v; want the last alone", i, parked)
		}
	}
}

func touch(tenant string, id int) keyqueue.Touch[message] {
	return keyqueue.Touch[message]{
		Key: keyqueue.Key{Tenant: tenant, Code: "c" + strconv.Itoa(id)}, Message: message{id: id}, PublishedAt: now,
	}
}

type message struct {
	id           int
	redeliveries uint32
}

var same = gocmp.AllowUnexported(message{})

// atWork returns a desk with one code in work.
func atWork(t *testing.T, maxHeld int, m message) (*desk.Desk[message], keyqueue.Work[message]) {
	t.Helper()
	d := newDesk(maxHeld)
	key := keyqueue.Key{Tenant: "acme", Code: "c1"}
	d.Touch(keyqueue.Touch[message]{Key: key, Message: m, PublishedAt: now}, now)
	work, ok := d.Next(now)
	if !ok {
		t.Fatal("nothing to work on")
	}
	d.Observe(key)
	return d, work
}

func newDesk(maxHeld int) *desk.Desk[message] {
	return desk.New(desk.Options[message]{
		Queue: keyqueue.Options[message]{
			Compare:   func(a, b message) int { return cmp.Compare(a.id, b.id) },
			TenantCap: 1, MaxHold: 10 * time.Second, Recheck: time.Second, Burst: 1, PaceRate: 1,
			MaxPace: time.Second, Remember: time.Second,
		},
		MaxHeld: maxHeld, Line: 1, Stumble: time.Second, MaxPanics: 2,
		Redeliveries: func(m message) uint32 { return m.redeliveries },
	})
}
