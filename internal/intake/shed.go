package intake

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/intake/desk"
	"github.com/rollcall-dev/rollcall/internal/keyqueue"
)

// shedAll parks codes that stand in line behind too many others, so that a
// storm never reaches the broker's limit of un-acked messages, at which every
// tenant's events would stop. The keeper brings them back at their tenant's
// pace.
func (in *Intake) shedAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-in.crowd:
		}
		for in.shed(ctx) && ctx.Err() == nil {
		}
	}
}

// shed parks one batch, and reports whether there may be more to do.
func (in *Intake) shed(ctx context.Context) bool {
	in.mu.Lock()
	works, marks := in.desk.Shed(time.Now())
	in.mu.Unlock()
	if len(works) == 0 {
		return false
	}
	err := in.Dirty.Mark(ctx, marks...)
	var acks []message
	settlements := make([]settlement, len(works))
	for i, work := range works {
		settlements[i] = in.settled(work, func(now time.Time) desk.Settlement[message] {
			return in.desk.Marked(work, marks[i], err, now)
		})
		acks = append(acks, settlements[i].Acks...)
	}
	in.ack(acks)
	for i, work := range works {
		in.tellShed(ctx, work, settlements[i])
	}
	return err == nil
}

// tellShed reports the end of a code that nobody has refreshed as that of one
// that somebody has.
func (in *Intake) tellShed(ctx context.Context, work keyqueue.Work[message], settled settlement) {
	ctx, span := in.startSpan(ctx, work)
	defer span.End()
	in.report(ctx, work, settled)
	in.Observer.Ended(ctx, Ended{Outcome: settled.Outcome})
}
