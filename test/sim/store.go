package sim

import (
	"context"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
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

func (s storeOf) Commit(ctx context.Context, ref push.Ref, c push.Committed, settled []int64) (bool, error) {
	before := s.Record(ref).Committed.Hash
	ok, err := s.Store.Commit(ctx, ref, c, settled)
	s.w.checkRecord(ref)
	if ok && c.Hash != before {
		s.w.checkCommit(ref)
	}
	return ok, err
}

func (s storeOf) Drop(ctx context.Context, ref push.Ref, epoch int64) error {
	err := s.Store.Drop(ctx, ref, epoch)
	s.w.checkRecord(ref)
	return err
}
