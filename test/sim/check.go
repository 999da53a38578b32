package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/intake/desk"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// checkBegin looks at a worker that is about to start.
func (c *consumer) checkBegin(k *worker) {
	if slices.ContainsFunc(c.workers, func(other *worker) bool { return other.ref == k.ref }) {
		c.w.fail(OneWorker, fmt.Sprintf("%s starts a second worker on %s", c.name, k.ref.Code))
	}
	if until := c.firm[k.work.Key]; until.After(c.now()) {
		c.w.fail(FirmBackoff, fmt.Sprintf("%s runs %s again at %s, held until %s", c.name, k.ref.Code, c.w.at(c.now()), c.w.at(until)))
	}
	delete(c.firm, k.work.Key)
	if over := c.turns.taken(k.work.Key, c.w.profile.tenantCap, c.inWork); over != "" {
		c.w.fail(Fair, c.name+": "+over)
	}
}

// inWork is how many workers are on a tenant's codes.
func (c *consumer) inWork(tenant string) int {
	n := 0
	for _, k := range c.workers {
		if k.ref.Tenant == tenant {
			n++
		}
	}
	return n
}

// checkSettled looks at what became of a worker's code.
func (c *consumer) checkSettled(k *worker, s desk.Settlement[delivery]) {
	switch out := s.Outcome.(type) {
	case push.Park:
		if _, dirty, _ := c.w.dirty.Get(context.Background(), k.ref); !dirty && len(s.Acks) > 0 && !c.w.released(k.ref) {
			c.w.fail(DirtyFirst, fmt.Sprintf("%s is acked as parked and is not dirty", k.ref.Code))
		}
	case push.Fail:
		c.firm[k.work.Key] = c.now().Add(c.w.profile.backoff)
	case push.Hold:
		if out.Cause.Firm() {
			c.firm[k.work.Key] = earliest(out.Until, c.now().Add(c.w.profile.maxHold))
		}
	case push.Done:
		record := c.w.store.Record(k.ref)
		open := slices.DeleteFunc(epochs(record), func(epoch int64) bool { return epoch > record.Committed.Epoch })
		if out.Reason == reason.Pushed && len(open) > 0 {
			c.w.fail(AckedLast, fmt.Sprintf("%s acks %v of %s while the calls %v are open", c.name, numbers(s.Acks), k.ref.Code, open))
		}
	}
}

// released reports that the keeper has published a dirty code: there is an
// event of it, or a worker on one.
func (w *world) released(ref push.Ref) bool {
	if slices.ContainsFunc(w.broker.messages, func(m *message) bool { return m.ref == ref }) {
		return true
	}
	return slices.ContainsFunc(w.tasks, func(t *task) bool { return t.worker != nil && t.worker.ref == ref })
}

// checkHeld looks at what a consumer keeps waiting.
func (c *consumer) checkHeld() {
	stats := c.desk.Stats()
	waits := stats.Held - stats.ByCause[reason.StoreDown] - stats.ByCause[reason.Paced]
	if waits > c.w.profile.maxHeld {
		c.w.fail(HeldBounded, fmt.Sprintf("%s holds %d codes", c.name, waits))
	}
	for _, ref := range c.w.codes {
		if n := c.keeps(ref); n > 1 {
			c.w.fail(OneMessage, fmt.Sprintf("%s keeps %d messages of %s", c.name, n, ref.Code))
		}
	}
	if due, ok := c.desk.NextDue(); ok && due.Sub(c.now()) > c.w.profile.maxHold {
		c.w.fail(HoldBounded, fmt.Sprintf("%s holds a code for %v", c.name, due.Sub(c.now())))
	}
}

// keeps is how many messages of a code a consumer has received and neither
// acked nor given back.
func (c *consumer) keeps(ref push.Ref) int {
	n := c.w.broker.pending(c.link, ref)
	for _, d := range c.inbox {
		if d.ref == ref {
			n--
		}
	}
	return n - len(c.outbox)
}

// checkCall looks at a call that reaches WeCom.
func (w *world) checkCall(k *worker, call push.Call) {
	failure := w.store.Record(call.Ref).Failure
	if w.clock.Now().After(k.expires) {
		w.fail(Admitted, fmt.Sprintf("%s calls for %s at %s, admitted until %s", k.consumer.name, call.Code, w.at(w.clock.Now()), w.at(k.expires)))
	}
	if s := w.store.Peek(call.Ref).Tenant.Suspension; s.NextProbe.After(w.clock.Now()) && w.suspendedAt[call.Tenant].Before(k.loaded) && !s.NextProbe.Equal(k.probe) {
		w.fail(OneProbe, fmt.Sprintf("%s calls for %s, whose tenant is suspended until %s", k.consumer.name, call.Code, w.at(s.NextProbe)))
	}
	if k.beaten {
		w.fail(OneProbe, fmt.Sprintf("%s calls for %s, and somebody else makes the probe", k.consumer.name, call.Code))
	}
	mine := failure.NotBefore.Add(-2 * w.profile.skew) // it was set by another clock
	if mine.After(w.clock.Now()) && w.failedAt[call.Ref].Before(k.loaded) {
		w.fail(FirmBackoff, fmt.Sprintf("%s calls for %s at %s, in a backoff until %s", k.consumer.name, call.Code, w.at(w.clock.Now()), w.at(failure.NotBefore)))
	}
}

// checkCommit looks at a list that was committed.
func (w *world) checkCommit(ref push.Ref) {
	facts := w.current.worker.facts
	if newest := w.committed[ref]; facts < newest {
		w.fail(NewerFacts, fmt.Sprintf("%s: facts of change %d are committed after those of change %d", ref.Code, facts, newest))
	}
	w.committed[ref] = facts
}

// checkExpected looks at a code that nobody looks after any more, once it has
// lost an event, or a change that the keeper had taken, or expects another one.
// Somebody whose clock is ahead may have seen a change that is to come at once.
func (w *world) checkExpected(ref push.Ref) {
	if w.profile.zone != islands || w.awaited(ref) {
		return
	}
	facts, record, now := w.store.Peek(ref), w.store.Record(ref), w.clock.Now()
	ahead := now.Add(2 * w.profile.skew)
	if record.Expects(ahead) {
		return
	}
	today, err := roster.Decide(facts, record.Last(), roster.LaneRules{}, now)
	soon, also := roster.Decide(facts, record.Last(), roster.LaneRules{}, ahead)
	switch held := record.Committed.Hash; {
	case err != nil || also != nil:
	case held != today.Hash && held != soon.Hash:
		w.fail(Expected, fmt.Sprintf("%s has changed, the record says %v and expects %s", ref.Code, record.Committed.Members, w.at(record.NextChange)))
	case !record.Expects(soon.NextChange):
		w.fail(Expected, fmt.Sprintf("%s changes at %s, the record expects %s", ref.Code, w.at(soon.NextChange), w.at(record.NextChange)))
	}
}

// awaited reports that a code is refreshed once more whatever time brings.
func (w *world) awaited(ref push.Ref) bool {
	entry, dirty, _ := w.dirty.Get(context.Background(), ref)
	return dirty && entry.State != push.DirtyReleased || w.store.Changes().Taken(ref) ||
		slices.ContainsFunc(w.broker.messages, func(m *message) bool { return m.ref == ref }) ||
		slices.ContainsFunc(w.tasks, func(t *task) bool { return t.process == &w.producers })
}

// checkLanded looks at a call at the instant at which it takes effect.
func (w *world) checkLanded(f flight) {
	w.note("wecom", "the call of epoch %d for %s takes effect", f.epoch, f.ref.Code)
	record := w.store.Record(f.ref)
	if !slices.ContainsFunc(record.Intents, func(i push.Intent) bool { return i.Epoch == f.epoch }) {
		w.fail(Announced, fmt.Sprintf("the call of epoch %d for %s lands, the record is at epoch %d with intents %v", f.epoch, f.ref.Code, record.Epoch, epochs(record)))
	}
}

// checkRecord holds a record without an open intent against WeCom.
func (w *world) checkRecord(ref push.Ref) {
	record := w.store.Record(ref)
	if len(record.Intents) > 0 || record.Committed.Epoch == 0 {
		return
	}
	if way, ok := w.vendor.Way("cfg-" + ref.Code); ok && !slices.Equal(way.Members, record.Committed.Members) {
		w.fail(RecordTrue, fmt.Sprintf("no call for %s is open, wecom lists %v and the record says %v", ref.Code, way.Members, record.Committed.Members))
	}
}

func epochs(record push.Record) []int64 {
	var out []int64
	for _, i := range record.Intents {
		out = append(out, i.Epoch)
	}
	return out
}

// judge holds WeCom, sets and records against the facts, at the end.
func (w *world) judge() {
	for _, ref := range w.codes {
		facts, record := w.store.Peek(ref), w.store.Record(ref)
		want, err := roster.Decide(facts, record.Last(), roster.LaneRules{}, w.clock.Now())
		if err != nil {
			w.fail(Converged, err.Error())
			return
		}
		way, _ := w.vendor.Way(facts.Code.ConfigID)
		w.same(Converged, ref, want.Members, way.Members)
		w.same(RecordTrue, ref, way.Members, record.Committed.Members)
		if facts.Code.Family.Rotates() {
			set, _ := w.rotation.Set(ref)
			w.same(SetConverged, ref, want.Rotation, set.Seats)
		}
	}
}

func (w *world) same(invariant Invariant, ref push.Ref, want, got any) {
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		w.fail(invariant, ref.Code+" (-want +got): "+strings.Join(strings.Fields(diff), " "))
	}
}

// dueChanges is how many codes the keeper has to publish for time alone.
func (w *world) dueChanges() int {
	n := 0
	for tenant := range w.windows {
		n += len(w.store.Changes().Find(tenant, w.clock.Now(), len(w.codes)))
	}
	return n
}

func (w *world) dirtyCodes() int {
	entries, _ := w.dirty.List(context.Background(), push.Ref{}, 1000)
	return len(entries)
}

// unfinished says what a run that does not end still has to do.
func (w *world) unfinished() string {
	left := []string{fmt.Sprintf("%d tasks, %d dirty codes", len(w.tasks), w.dirtyCodes())}
	for _, m := range w.broker.messages {
		left = append(left, fmt.Sprintf("event %d of %s", m.id, m.ref.Code))
	}
	for _, ref := range w.codes {
		if open := epochs(w.store.Record(ref)); len(open) > 0 {
			left = append(left, fmt.Sprintf("intents %v of %s", open, ref.Code))
		}
	}
	return strings.Join(left, ", ")
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
