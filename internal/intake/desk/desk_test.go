package desk_test

import (
	"cmp"
	"errors"
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
	got := d.Settle(work, push.Hold{Until: now.Add(time.Second), Cause: reason.Throttled}, now)
	if got.Mark == nil || len(got.Acks) != 0 {
		t.Fatalf("settled as %+v; want a mark and no ack yet", got)
	}
	want := push.Mark{
		Ref: push.Ref{Tenant: "acme", Code: "c1"}, Reason: reason.Overflow,
		Detail: "too many codes are held; this one waits for: throttled", Due: now.Add(time.Second),
	}
	if diff := gocmp.Diff(want, *got.Mark); diff != "" {
		t.Errorf("mark (-want +got):\n%s", diff)
	}
	if got := d.Parked(work, want, now); !gocmp.Equal([]message{{id: 7}}, got.Acks, same) {
		t.Errorf("after the mark: %+v; want message 7 acked", got)
	}
}

func TestAParkThatIsNotStoredWaitsHere(t *testing.T) {
	d, work := atWork(t, 0, message{id: 7})
	d.Settle(work, push.Park{Mark: push.Mark{Reason: reason.Backoff}}, now)
	got := d.NotParked(work, errors.New("no answer"), now)
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

type message struct {
	id           int
	redeliveries uint32
}

var same = gocmp.AllowUnexported(message{})

// atWork returns a desk with one code in work.
func atWork(t *testing.T, maxHeld int, m message) (*desk.Desk[message], keyqueue.Work[message]) {
	t.Helper()
	d := desk.New(desk.Options[message]{
		Queue: keyqueue.Options[message]{
			Compare:   func(a, b message) int { return cmp.Compare(a.id, b.id) },
			TenantCap: 1, MaxHold: 10 * time.Second, Recheck: time.Second, Burst: 1, PaceRate: 1,
			MaxPace: time.Second, Remember: time.Second,
		},
		MaxHeld: maxHeld, Stumble: time.Second, MaxPanics: 2,
		Redeliveries: func(m message) uint32 { return m.redeliveries },
	})
	key := keyqueue.Key{Tenant: "acme", Code: "c1"}
	d.Touch(keyqueue.Touch[message]{Key: key, Message: m, PublishedAt: now}, now)
	work, ok := d.Next(now)
	if !ok {
		t.Fatal("nothing to work on")
	}
	d.Observe(key)
	return d, work
}
