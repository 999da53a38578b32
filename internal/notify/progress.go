package notify

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// The steps of a delivery:
//
//	Pending    ─ claim ──▶ InProgress ─ begin ─▶ Sending ─ settle ─▶ Success
//	InProgress ─ hold ───▶ Held ─ resume ─▶ Pending
//	InProgress ─ abandon ▶ Failed                   no such channel any more
//	Sending    ─ settle ─▶ Pending | Failed         again later | given up
//	InProgress, Sending ─ requeue ─▶ Pending | Failed   the owner's time is up
//	Failed     ─ reopen ─▶ Pending                  an operator
//
// Each function says what follows; whether it happens is for the conditional
// update that stores it.

// claim makes the row the owner's until deadline. day is today in the tenant's
// time zone: its pool will pay unless another day's was asked before.
func (d Delivery) claim(owner string, day roster.Day, now, deadline time.Time) Progress {
	p := d.Progress
	p.State, p.Owner, p.Due, p.At = InProgress, owner, deadline, now
	p.Attempt++
	if p.PoolDay == "" {
		p.PoolDay = day
	}
	return p
}

// hold says that the pool is exhausted. Another day's may pay.
func (d Delivery) hold(now time.Time) Progress {
	p := d.waiting(Held, now, reason.PoolExhausted, "")
	p.Due, p.PoolDay = time.Time{}, ""
	return p
}

// resume ends a hold.
func (d Delivery) resume(now time.Time) Progress {
	return d.waiting(Pending, now, "", "")
}

// abandon gives the row up before anything was sent.
func (d Delivery) abandon(now time.Time, cause reason.Reason, detail string) Progress {
	p := d.waiting(Failed, now, cause, detail)
	p.Due = time.Time{}
	return p
}

// begin says that the row is paid and will be sent before deadline.
func (d Delivery) begin(now, deadline time.Time) Progress {
	p := d.Progress
	p.State, p.Due, p.Paid, p.At = Sending, deadline, true, now
	p.Tries++
	return p
}

// settle follows from what the channel said.
func (d Delivery) settle(outcome Outcome, now time.Time, rules Retries) Progress {
	switch o := outcome.(type) {
	case Accepted:
		p := d.waiting(Success, now, "", "")
		p.Due = time.Time{}
		return p
	case Refused:
		return d.abandon(now, o.Cause, o.Detail)
	case Again:
		return d.again(now, o, rules)
	}
	return d.again(now, Again{Cause: reason.UnknownError}, rules)
}

// again is a row that is tried once more, or was tried often enough.
func (d Delivery) again(now time.Time, o Again, rules Retries) Progress {
	if d.Tries >= rules.MaxTries {
		return d.abandon(now, o.Cause, o.Detail)
	}
	p := d.waiting(Pending, now, o.Cause, o.Detail)
	p.Due = now.Add(max(rules.Backoff.After(d.Tries, d.ID), min(o.After, rules.MaxAfter)))
	return p
}

// requeue is a row whose owner's time is up. What was being sent may have
// arrived: it is sent again, with the same idempotency key.
func (d Delivery) requeue(now time.Time, rules Retries) Progress {
	if d.State == Sending && d.Tries >= rules.MaxTries {
		return d.abandon(now, reason.OwnerLost, "")
	}
	return d.waiting(Pending, now, reason.OwnerLost, "")
}

// reopen begins anew with what was given up. It is not paid for again.
func (d Delivery) reopen(now time.Time) Progress {
	p := d.waiting(Pending, now, "", "")
	p.Tries = 0
	return p
}

// waiting is the row without an owner, due now.
func (d Delivery) waiting(state State, now time.Time, cause reason.Reason, detail string) Progress {
	p := d.Progress
	p.State, p.Owner, p.Due, p.At, p.Cause, p.Detail = state, "", now, now, cause, detail
	return p
}

// Retries say how often and how far apart a delivery is tried.
type Retries struct {
	MaxTries int           // 1 or more
	Backoff  push.Backoff  // between two tries
	MaxAfter time.Duration // the longest wait that a receiver may ask for
}
