package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// storeOf notes what a worker announces, so that a landing call can be told
// from another.
type storeOf struct {
	*pushtest.Store
	w *world
}

func (s storeOf) Begin(ctx context.Context, ref push.Ref, seen int64, intent push.Intent) (bool, error) {
	s.w.current.worker.epoch = intent.Epoch
	return s.Store.Begin(ctx, ref, seen, intent)
}

func (s storeOf) SetFailure(ctx context.Context, ref push.Ref, failure push.Failure) error {
	err := s.Store.SetFailure(ctx, ref, failure)
	s.w.failedAt[ref] = s.w.clock.Now()
	return err
}

func (s storeOf) Commit(ctx context.Context, ref push.Ref, c push.Committed, settled []int64, next time.Time) (bool, error) {
	before := s.Record(ref).Committed.Hash
	ok, err := s.Store.Commit(ctx, ref, c, settled, next)
	s.w.checkRecord(ref)
	if ok && c.Hash != before {
		s.w.checkCommit(ref)
	}
	return ok, err
}

// ExpectChange comes late more often than other writes: what older facts expect
// has to be seen after what newer ones do.
func (s storeOf) ExpectChange(ctx context.Context, ref push.Ref, at time.Time) error {
	s.w.dawdle(0.2)
	err := s.Store.ExpectChange(ctx, ref, at)
	s.w.checkExpected(ref)
	return err
}

func (s storeOf) Drop(ctx context.Context, ref push.Ref, epoch int64) error {
	err := s.Store.Drop(ctx, ref, epoch)
	s.w.checkRecord(ref)
	return err
}

// Quarantine changes the facts of every code that the staff member is on. Who
// makes such a change publishes for them all; here the world does.
func (s storeOf) Quarantine(ctx context.Context, tenant, staff string, until time.Time, why string) error {
	if !s.w.refusedEver[staff] && s.w.clock.Now().Sub(s.w.badSince) > patienceWithBad {
		s.w.fail(BadOnly, staff+" of "+tenant+": "+why)
	}
	err := s.Store.Quarantine(ctx, tenant, staff, until, why)
	s.w.changed++
	s.w.publishAll(tenant)
	return err
}

// Suspend notes who took on the probe.
func (s storeOf) Suspend(ctx context.Context, tenant string, seen time.Time, suspension roster.Suspension) (bool, error) {
	won, err := s.Store.Suspend(ctx, tenant, seen, suspension)
	if now := s.w.clock.Now(); won && seen.After(now.Add(2*s.w.profile.skew)) {
		s.w.fail(OneProbe, fmt.Sprintf("%s is probed at %s, due at %s", tenant, s.w.at(now), s.w.at(seen)))
	}
	if s.Peek(s.w.current.worker.ref).Tenant.Suspension.NextProbe.Equal(suspension.NextProbe) { // whatever the answer was
		s.w.suspendedAt[tenant] = s.w.clock.Now()
	}
	s.w.current.worker.beaten = !won && err == nil
	if won {
		s.w.current.worker.probe = suspension.NextProbe
	}
	return won, err
}
