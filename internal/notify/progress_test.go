package notify

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var (
	filedAt  = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)
	now      = filedAt.Add(time.Hour)
	deadline = now.Add(time.Minute)
	rules    = Retries{MaxTries: 3, Backoff: push.Backoff{Base: 10 * time.Second, Cap: 10 * time.Second}, MaxAfter: time.Hour}
)

// row is a delivery in a state after its second attempt, one try of which was
// sent.
func row(state State, change ...func(*Progress)) Delivery {
	d := newDelivery(Notice{Key: "k", Tenant: "acme", Kind: StaffResigned, At: filedAt}, ViaWebhook, filedAt)
	d.Progress = Progress{State: state, Attempt: 2, Tries: 1, PoolDay: "20260302", Paid: true, At: filedAt}
	switch state {
	case Pending:
		d.Due = filedAt
	case InProgress, Sending:
		d.Owner, d.Due = "a", filedAt
	case Held:
		d.PoolDay, d.Paid, d.Tries, d.Cause = "", false, 0, reason.PoolExhausted
	case Failed:
		d.Cause, d.Detail = reason.Refused, "http 410"
	case Success:
	}
	for _, c := range change {
		c(&d.Progress)
	}
	return d
}

// The state machine: a row before a step, and its progress after it. What a step
// does not name stays as it was.
func TestSteps(t *testing.T) {
	tried := func(n int) func(*Progress) { return func(p *Progress) { p.Tries = n } }
	unpaid := func(p *Progress) { p.Paid, p.PoolDay, p.Tries = false, "", 0 }
	for _, tc := range []struct {
		name string
		from Delivery
		step func(Delivery) Progress
		to   State
		want func(*Progress)
	}{
		{"a claim counts an attempt", row(Pending), func(d Delivery) Progress { return d.claim("b", "20260303", now, deadline) }, InProgress, func(p *Progress) {
			p.Attempt, p.Owner, p.Due = 3, "b", deadline
		}},
		{"the first claim decides which day pays", row(Pending, unpaid), func(d Delivery) Progress { return d.claim("b", "20260303", now, deadline) }, InProgress, func(p *Progress) {
			p.Attempt, p.Owner, p.Due, p.PoolDay = 3, "b", deadline, "20260303"
		}},
		{"nothing is left to pay with", row(InProgress, unpaid), func(d Delivery) Progress { return d.hold(now) }, Held, func(p *Progress) {
			p.Owner, p.Due, p.Cause, p.PoolDay = "", time.Time{}, reason.PoolExhausted, ""
		}},
		{"there is something again", row(Held), func(d Delivery) Progress { return d.resume(now) }, Pending, func(p *Progress) {
			p.Due, p.Cause = now, ""
		}},
		{"the channel is gone", row(InProgress), func(d Delivery) Progress { return d.abandon(now, reason.NoChannel, "") }, Failed, func(p *Progress) {
			p.Owner, p.Due, p.Cause = "", time.Time{}, reason.NoChannel
		}},
		{"it is about to be sent", row(InProgress, func(p *Progress) { p.Paid = false }), func(d Delivery) Progress { return d.begin(now, deadline) }, Sending, func(p *Progress) {
			p.Due, p.Tries, p.Paid = deadline, 2, true
		}},
		{"the receiver took it", row(Sending), settled(Accepted{}), Success, func(p *Progress) {
			p.Owner, p.Due = "", time.Time{}
		}},
		{"the receiver refused it", row(Sending), settled(Refused{Cause: reason.Refused, Detail: "http 410"}), Failed, func(p *Progress) {
			p.Owner, p.Due, p.Cause, p.Detail = "", time.Time{}, reason.Refused, "http 410"
		}},
		{"the last try failed", row(Sending, tried(3)), settled(Again{Cause: reason.Transient, Detail: "http 503"}), Failed, func(p *Progress) {
			p.Owner, p.Due, p.Cause, p.Detail = "", time.Time{}, reason.Transient, "http 503"
		}},
		{"the receiver said when", row(Sending), settled(Again{Cause: reason.Throttled, After: 30 * time.Minute}), Pending, func(p *Progress) {
			p.Owner, p.Due, p.Cause = "", now.Add(30*time.Minute), reason.Throttled
		}},
		{"the receiver said far too late", row(Sending), settled(Again{Cause: reason.Throttled, After: 48 * time.Hour}), Pending, func(p *Progress) {
			p.Owner, p.Due, p.Cause = "", now.Add(time.Hour), reason.Throttled
		}},
		{"whoever claimed it died", row(InProgress), requeued, Pending, func(p *Progress) {
			p.Owner, p.Due, p.Cause = "", now, reason.OwnerLost
		}},
		{"whoever sent it died", row(Sending), requeued, Pending, func(p *Progress) {
			p.Owner, p.Due, p.Cause = "", now, reason.OwnerLost
		}},
		{"whoever sent it died at every try", row(Sending, tried(3)), requeued, Failed, func(p *Progress) {
			p.Owner, p.Due, p.Cause = "", time.Time{}, reason.OwnerLost
		}},
		{"whoever claimed it died, its tries are over", row(InProgress, tried(3)), requeued, Pending, func(p *Progress) {
			p.Owner, p.Due, p.Cause = "", now, reason.OwnerLost
		}},
		{"an operator reopens it", row(Failed, tried(3)), func(d Delivery) Progress { return d.reopen(now) }, Pending, func(p *Progress) {
			p.Due, p.Tries, p.Cause, p.Detail = now, 0, "", ""
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := tc.from.Progress
			want.State, want.At = tc.to, now
			tc.want(&want)
			if diff := cmp.Diff(want, tc.step(tc.from)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func settled(o Outcome) func(Delivery) Progress {
	return func(d Delivery) Progress { return d.settle(o, now, rules) }
}

func requeued(d Delivery) Progress { return d.requeue(now, rules) }

// Waits between tries double up to their cap, and spread.
func TestTriesAreSpread(t *testing.T) {
	rules := Retries{MaxTries: 10, Backoff: push.Backoff{Base: 10 * time.Second, Cap: time.Minute}}
	seen := map[time.Duration]bool{}
	for tries, want := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute} {
		for _, key := range []string{"a", "b", "c"} {
			d := newDelivery(Notice{Key: key, Tenant: "acme"}, ViaRobot, filedAt)
			d.State, d.Tries = Sending, tries+1
			wait := d.settle(Again{Cause: reason.Transient}, now, rules).Due.Sub(now)
			if wait < want/2 || wait > want {
				t.Errorf("after try %d it waits %s; want %s to %s", tries+1, wait, want/2, want)
			}
			seen[wait] = true
		}
	}
	if len(seen) != 15 {
		t.Errorf("%d different waits of 15", len(seen))
	}
}

// Without an outcome nothing is known: it is sent again.
func TestNoOutcomeIsTriedAgain(t *testing.T) {
	if p := row(Sending).settle(nil, now, rules); p.State != Pending || p.Cause != reason.UnknownError {
		t.Errorf("%s because of %q", p.State, p.Cause)
	}
}

// The ID follows from what is told to whom through which channel, and from
// nothing else.
func TestIDs(t *testing.T) {
	id := deliveryID("acme", ViaWebhook, "k")
	again := newDelivery(Notice{Tenant: "acme", Key: "k", Count: 7, At: now}, ViaWebhook, now).ID
	if id != again || len(id) != 32 {
		t.Errorf("%s and %s; want one ID of 32 digits", id, again)
	}
	others := []string{
		deliveryID("acme", ViaRobot, "k"), deliveryID("acm", ViaWebhook, "k"), deliveryID("acme", ViaWebhook, "kk"),
		deliveryID("acmew", "ebhook", "k"), deliveryID("acme", "webhookk", ""),
	}
	if slices.Contains(others, id) || len(slices.Compact(slices.Sorted(slices.Values(others)))) != len(others) {
		t.Errorf("not all different: %s %v", id, others)
	}
}

// Lanes take turns, whatever order the store lists them in.
func TestLanesTakeTurns(t *testing.T) {
	a, b, c := Lane{"a", ViaWebhook}, Lane{"b", ViaRobot}, Lane{"b", ViaWebhook}
	for _, tc := range []struct {
		last Lane
		want []Lane
	}{
		{Lane{}, []Lane{a, b, c}},
		{a, []Lane{b, c, a}},
		{c, []Lane{a, b, c}},
		{Lane{"aa", ViaRobot}, []Lane{b, c, a}}, // it has nothing due any more
	} {
		if diff := cmp.Diff(tc.want, inTurn([]Lane{c, a, b}, tc.last)); diff != "" {
			t.Errorf("after %v:\n%s", tc.last, diff)
		}
	}
}
