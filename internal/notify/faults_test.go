package notify_test

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/notify/notifytest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var errReset = errors.New("connection reset")

// failingLedger fails at one of its calls.
type failingLedger struct {
	notify.Ledger
	calls, failAt int
	err           error
}

func (l *failingLedger) Create(ctx context.Context, row notify.Delivery) (bool, error) {
	if l.calls++; l.calls == l.failAt {
		return false, l.err
	}
	return l.Ledger.Create(ctx, row)
}

// failingQueue fails to move rows into a state, so many times.
type failingQueue struct {
	notify.Queue
	into  notify.State
	times int32
	seen  atomic.Int32
}

func (q *failingQueue) Move(ctx context.Context, seen notify.Delivery, next notify.Progress) (bool, error) {
	if next.State == q.into && q.seen.Add(1) <= q.times {
		return false, errReset
	}
	return q.Queue.Move(ctx, seen, next)
}

// pausingQueue takes its time after it moved a row into a state.
type pausingQueue struct {
	notify.Queue
	into  notify.State
	pause time.Duration
}

func (q pausingQueue) Move(ctx context.Context, seen notify.Delivery, next notify.Progress) (bool, error) {
	moved, err := q.Queue.Move(ctx, seen, next)
	if next.State == q.into {
		wait(q.pause)
	}
	return moved, err
}

// crashingPools debit, and nobody hears of it.
type crashingPools struct{ *notifytest.Memory }

func (p crashingPools) Debit(ctx context.Context, tenant string, day roster.Day, id string, limit int) (bool, error) {
	_, _ = p.Memory.Debit(ctx, tenant, day, id, limit)
	return false, errReset
}

// countingPools count what is asked of them.
type countingPools struct {
	notify.Pools
	debits atomic.Int32
}

func (p *countingPools) Debit(ctx context.Context, tenant string, day roster.Day, id string, limit int) (bool, error) {
	p.debits.Add(1)
	return p.Pools.Debit(ctx, tenant, day, id, limit)
}
