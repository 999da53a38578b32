package intake

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/intake/desk"
	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// refresh brings one code up to its facts and settles its message.
func (in *Intake) refresh(ctx context.Context, work keyqueue.Work[message]) {
	ctx, span := in.startSpan(ctx, work)
	defer span.End()
	started := time.Now()
	ref := push.Ref{Tenant: work.Tenant, Code: work.Code}
	outcome := in.Refresher.Refresh(WithTrigger(ctx, work.Message.trigger()), ref, func() { in.observe(work.Key) })
	ended := Ended{Duration: time.Since(started)}
	settled := in.settle(ctx, work, outcome)
	ended.Outcome = settled.Outcome
	if _, done := settled.Outcome.(push.Done); done {
		ended.Freshness, ended.Waited = time.Since(settled.PublishedAt), settled.Waited
	}
	in.report(ctx, work, settled)
	in.Observer.Ended(ctx, ended)
}

func (in *Intake) observe(key keyqueue.Key) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.desk.Observe(key)
}

// settlement is the desk's, and whether the code pauses now for having run
// often.
type settlement struct {
	desk.Settlement[message]
	paced bool
}

// settle does what the desk makes of an outcome: a code that has to be dirty
// is marked first, and only then acked.
func (in *Intake) settle(ctx context.Context, work keyqueue.Work[message], outcome push.Outcome) settlement {
	settled := in.settled(work, func(now time.Time) desk.Settlement[message] { return in.desk.Settle(work, outcome, now) })
	if settled.Mark != nil {
		mark := *settled.Mark
		err := in.Dirty.Mark(ctx, mark)
		settled = in.settled(work, func(now time.Time) desk.Settlement[message] {
			return in.desk.Marked(work, mark, err, now)
		})
	}
	in.ack(settled.Acks)
	return settled
}

// settled asks the desk, notes what the code waits for, and wakes whoever the
// answer concerns.
func (in *Intake) settled(work keyqueue.Work[message], ask func(now time.Time) desk.Settlement[message]) settlement {
	in.mu.Lock()
	defer in.mu.Unlock()
	before := in.desk.Held()
	settled := settlement{Settlement: ask(time.Now())}
	if in.desk.Held() > before {
		settled.paced = in.noteWaitLocked(work.Key, settled.Outcome)
	}
	in.wake.Signal()
	in.room.Signal()
	in.rearmLocked()
	return settled
}
