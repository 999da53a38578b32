package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// errLate is an owner who found that his time is up. Nothing is wrong with the
// row: the next one goes on with it.
var errLate = errors.New("the time to do it is over")

// deliver brings one row as far as it gets now. A row that somebody else moved
// is left to him. After an error the row is in one of its states, and goes on
// when its owner's time is up.
func (d *Dispatcher) deliver(ctx context.Context, row Delivery, t terms) error {
	for _, step := range []func(context.Context, *Delivery, terms) (bool, error){
		d.takeOver, d.claim, d.pay, d.begin, d.send,
	} {
		if on, err := step(ctx, &row, t); err != nil || !on {
			return err
		}
	}
	return nil
}

// takeOver ends the ownership of somebody whose time is up.
func (d *Dispatcher) takeOver(ctx context.Context, row *Delivery, _ terms) (bool, error) {
	if row.State == Pending {
		return true, nil
	}
	on, err := d.move(ctx, row, row.requeue(d.opts.Now(), d.opts.Retries))
	return on && row.State == Pending, err
}

// claim makes the row this dispatcher's.
func (d *Dispatcher) claim(ctx context.Context, row *Delivery, t terms) (bool, error) {
	now := d.opts.Now()
	return d.move(ctx, row, row.claim(d.opts.Owner, t.day(now), now, now.Add(d.opts.Margin)))
}

// pay debits the pool of the row's day, unless it is known to have paid.
func (d *Dispatcher) pay(ctx context.Context, row *Delivery, t terms) (bool, error) {
	now := d.opts.Now()
	if !t.channels.Has(row.Via) {
		_, err := d.move(ctx, row, row.abandon(now, reason.NoChannel, ""))
		return false, err
	}
	if row.Paid {
		return true, nil
	}
	if !now.Before(row.Due) {
		return false, fmt.Errorf("pay for delivery %s: %w", row.ID, errLate)
	}
	day := row.PoolDay
	paid, err := d.Pools.Debit(ctx, row.Notice.Tenant, day, row.ID, t.limit)
	if err != nil {
		return false, fmt.Errorf("pay for delivery %s: %w", row.ID, err)
	}
	if paid {
		return true, nil
	}
	held, err := d.move(ctx, row, row.hold(d.opts.Now()))
	if held {
		d.Alerts.Raise(ctx, alert.NotificationsHeld(row.Notice.Tenant, string(day), t.limit))
	}
	return false, err
}

// begin says that the row is about to be sent.
func (d *Dispatcher) begin(ctx context.Context, row *Delivery, _ terms) (bool, error) {
	now := d.opts.Now()
	return d.move(ctx, row, row.begin(now, now.Add(d.opts.SendTimeout+d.opts.Margin)))
}

// send makes one attempt, unless the row's time does not suffice any more, and
// stores what became of it.
func (d *Dispatcher) send(ctx context.Context, row *Delivery, t terms) (bool, error) {
	if d.opts.Now().Add(d.opts.SendTimeout).After(row.Due) {
		return false, fmt.Errorf("send delivery %s: %w", row.ID, errLate)
	}
	sending, cancel := d.sending(ctx)
	defer cancel()
	outcome := t.sender.Send(sending, t.channels, Message{ID: row.ID, Notice: row.Notice})
	return d.store(ctx, row, row.settle(outcome, d.opts.Now(), d.opts.Retries))
}

// sending is the context of one attempt: it outlives ctx by the grace.
func (d *Dispatcher) sending(ctx context.Context) (context.Context, context.CancelFunc) {
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.opts.SendTimeout)
	stop := context.AfterFunc(ctx, func() {
		grace := time.NewTimer(d.opts.Grace)
		defer grace.Stop()
		select {
		case <-grace.C:
			cancel()
		case <-sending.Done():
		}
	})
	return sending, func() {
		stop()
		cancel()
	}
}

// store is move for what must not get lost: without it what was sent is sent
// once more.
func (d *Dispatcher) store(ctx context.Context, row *Delivery, next Progress) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	var failed error
	for range writeTries {
		moved, err := d.move(ctx, row, next)
		if err == nil {
			return moved, nil
		}
		failed = err
	}
	return false, failed
}

// move stores the row's next progress and reports whether it is still ours to
// go on with.
func (d *Dispatcher) move(ctx context.Context, row *Delivery, next Progress) (bool, error) {
	moved, err := d.Queue.Move(ctx, *row, next)
	if err != nil {
		return false, fmt.Errorf("move delivery %s from %s to %s: %w", row.ID, row.State, next.State, err)
	}
	if !moved {
		return false, nil
	}
	row.Progress = next
	d.Observer.Moved(ctx, row.Via, next.State)
	if next.State == Failed {
		d.opts.Logger.WarnContext(ctx, "delivery given up", "tenant", row.Notice.Tenant, "delivery", row.ID, "via", row.Via,
			"kind", row.Notice.Kind, "tries", next.Tries, "reason", next.Cause, "detail", next.Detail)
	}
	return true, nil
}
