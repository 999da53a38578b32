package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
)

// flight is a call on its way to taking effect.
type flight struct {
	ref   push.Ref
	epoch int64
	lands time.Time
}

// vendorOf is WeCom as one consumer reaches it: by the consumer's own clock.
type vendorOf struct {
	*pushtest.Vendor
	c *consumer
}

func (v vendorOf) Update(ctx context.Context, call push.Call) error {
	call.Deadline = call.Deadline.Add(-v.c.skew)
	return v.Vendor.Update(ctx, call)
}

// answer decides what becomes of a call that would succeed, and keeps account
// of it.
func (w *world) answer(call push.Call) pushtest.Answer {
	k := w.current.worker
	w.pushes++
	w.checkCall(k, call)
	a := pushtest.Answer{Lands: w.wireTime()}
	if w.windows[call.Tenant].exceeded(w.clock.Now(), w.profile) {
		a.Err, a.Lost = &push.CallError{Op: opUpdate, HTTPStatus: 200, ErrCode: 45009, Message: "api freq out of limit"}, true
		w.fail(WithinBudget, fmt.Sprintf("call for %s is one too many in %v", call.Code, w.profile.window))
		return a
	}
	if !w.calm {
		w.spoil(&a)
	}
	if !a.Lost || a.Err == nil {
		w.wire = append(w.wire, flight{call.Ref, k.epoch, w.clock.Now().Add(a.Lands)})
	}
	w.note("wecom", "%s gets %v (epoch %d), lands in %v, error %v, lost %v", call.Code, call.Members, k.epoch, a.Lands, a.Err, a.Lost)
	return a
}

// wireTime is how long a call takes to take effect: often as long as it may.
func (w *world) wireTime() time.Duration {
	longest := w.profile.margin - 2*w.profile.skew
	if w.rnd.Float64() < 0.3 {
		return longest - w.upTo(longest/8)
	}
	return w.upTo(longest)
}

const opUpdate = "update_contact_way"

func (w *world) spoil(a *pushtest.Answer) {
	switch dice := w.rnd.Float64() / w.profile.badAnswers; {
	case dice < 0.15:
		a.Err = &push.CallError{Op: opUpdate, Unknown: true, Message: "no answer"}
		a.Lost = w.happens(0.4)
	case dice < 0.22:
		a.Err, a.Lost = &push.CallError{Op: opUpdate, HTTPStatus: 200, ErrCode: -1, Message: "system busy"}, true
	case dice < 0.25:
		a.Err, a.Lost = &push.CallError{Op: opUpdate, HTTPStatus: 200, ErrCode: 99999, Message: "not in any list"}, true
	case dice < 0.26:
		a.Err, a.Lost = &push.CallError{Op: opUpdate, HTTPStatus: 200, ErrCode: 45009, Message: "api freq out of limit"}, true
	case dice < 0.27:
		a.Err, a.Lost = &push.CallError{Op: opUpdate, HTTPStatus: 200, ErrCode: 41044, Message: "invalid config id"}, true
	case dice < 0.28:
		a.Err, a.Lost = &push.CallError{Op: "gettoken", HTTPStatus: 200, ErrCode: 40001, Message: "invalid credential"}, true
	}
}

// patienceWithBad is how long a search may be misled by a change of whom WeCom
// refuses.
const patienceWithBad = 30 * time.Second

// turnBad lets WeCom refuse a staff member from now on, or take him again. At
// most one is refused at a time: more than half of a code's members are the
// app's fault.
func (w *world) turnBad() {
	if !w.happens(w.profile.badMembers) {
		return
	}
	w.badSince = w.clock.Now()
	if len(w.vendor.BadMembers) > 0 {
		w.note("wecom", "takes everybody again")
		clear(w.vendor.BadMembers)
		return
	}
	who := staffName(w.rnd.IntN(w.profile.staff))
	w.note("wecom", "refuses %s", who)
	w.vendor.BadMembers[who] = 60111
	w.refusedEver[who] = true
}

// land lets the calls take effect whose time has come.
func (w *world) land() {
	now := w.clock.Now()
	w.vendor.Land()
	w.wire = slices.DeleteFunc(w.wire, func(f flight) bool {
		if f.lands.After(now) {
			return false
		}
		w.checkLanded(f)
		return true
	})
}

// windows are one tenant's calls, by which the vendor limits them.
type calls struct{ at []time.Time }

// exceeded notes a call and reports whether it is one too many.
func (c *calls) exceeded(now time.Time, p *profile) bool {
	c.at = slices.DeleteFunc(c.at, func(t time.Time) bool { return now.Sub(t) >= p.window })
	c.at = append(c.at, now)
	return len(c.at) > p.windowCalls
}
