package adoption

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// errRefused says that WeCom answered, and that asking again does not help.
var errRefused = errors.New("WeCom refuses")

// refusedTries is how often a call is made that WeCom refuses for a reason that
// nobody has classified.
const refusedTries = 3

// answer is what a call's error means.
type answer int

const (
	granted answer = iota
	tooMany        // one API is blocked, for a minute or for an hour
	tooBusy        // too many calls at once
	silent         // no answer, or none that can be trusted
	accountRefused
	refused
)

// answerOf reads an error of the Vendor.
func answerOf(err error) answer {
	if err == nil {
		return granted
	}
	call, ok := errors.AsType[*push.CallError](err)
	if !ok {
		return silent
	}
	switch call.ErrCode {
	case 45009:
		return tooMany
	case 45033, 45035:
		return tooBusy
	}
	switch push.Classify(call) {
	case reason.Throttled:
		return tooMany
	case reason.Credentials:
		return accountRefused
	case reason.Transient, reason.BreakerOpen:
		return silent
	}
	return refused
}

// call makes a call when its turn has come, and again until it has an answer. It
// waits as long as WeCom says that there were too many.
func (r *run) call(ctx context.Context, do func(context.Context) error) error {
	for tries := 1; ; tries++ {
		if err := r.turn(ctx); err != nil {
			return err
		}
		err := r.try(ctx, do)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pause, end := r.after(err, &tries)
		if pause == 0 {
			return end
		}
		until := r.opts.Now().Add(pause)
		r.Observer.Waits(r.job.Copy(), until, err)
		if err := r.pause(ctx, until); err != nil {
			return err
		}
	}
}

func (r *run) try(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := r.within(ctx)
	defer cancel()
	return do(ctx)
}

// after says how long to wait before a call is made again; 0 is not again, and
// then how it ended. A throttle does not count as a try.
func (r *run) after(err error, tries *int) (time.Duration, error) {
	got := answerOf(err)
	if got == tooMany || got == tooBusy {
		*tries--
		r.blocked++
		if got == tooMany {
			return doubled(r.opts.Blocked, r.opts.BlockedMost, r.blocked), nil
		}
		return doubled(r.opts.Retry, r.opts.Blocked, r.blocked), nil
	}
	r.blocked = 0
	switch got {
	case silent:
		if *tries < r.opts.Tries {
			return doubled(r.opts.Retry, r.opts.RetryMost, *tries), nil
		}
		return 0, fmt.Errorf("%w, asked %d times: %w", ErrUnreachable, *tries, err)
	case refused:
		if *tries < refusedTries {
			return r.opts.Retry, nil
		}
		return 0, fmt.Errorf("%w: %w", errRefused, err)
	case accountRefused:
		return 0, fmt.Errorf("%w: %w", ErrCredentials, err)
	default:
		return 0, nil
	}
}

// doubled is the wait after n failures in a row.
func doubled(first, most time.Duration, n int) time.Duration {
	d := first
	for range n - 1 {
		if d >= most/2 {
			return most
		}
		d *= 2
	}
	return min(d, most)
}

// turn waits until a call may be made by the pace of the import.
func (r *run) turn(ctx context.Context) error {
	if err := r.pause(ctx, r.next); err != nil {
		return err
	}
	now := r.opts.Now()
	if r.next.Before(now) {
		r.next = now
	}
	r.next = r.next.Add(time.Duration(float64(time.Second) / r.opts.Rate))
	return r.renew(ctx)
}

// pause waits until an instant and keeps the claim meanwhile.
func (r *run) pause(ctx context.Context, until time.Time) error {
	for {
		left := until.Sub(r.opts.Now())
		if left <= 0 {
			return ctx.Err()
		}
		if err := r.opts.Wait(ctx, min(left, r.opts.Lease/3)); err != nil {
			return err
		}
		if err := r.renew(ctx); err != nil {
			return err
		}
	}
}
