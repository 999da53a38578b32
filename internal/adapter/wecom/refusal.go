package wecom

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// NotBeforeError says that a call was not made and when it may be.
type NotBeforeError struct {
	Until  time.Time
	Reason reason.Reason // Suspended (the account was refused), BreakerOpen or Throttled
}

// Error names the reason and the time.
func (e *NotBeforeError) Error() string {
	return fmt.Sprintf("%s, not before %s", e.Reason, e.Until.UTC().Format(time.RFC3339))
}

// refused returns an error while the account is left alone. What another
// instance or an earlier process learned is looked up in the store.
func (t *Tokens) refused(ctx context.Context, owner account, known tenancy) error {
	refusal := known.refusal
	if refusal.Streak == 0 {
		var ok bool
		if refusal, ok = t.store.refusal(ctx, known.key); !ok {
			return nil
		}
		t.update(owner.tenant, func(current *tenancy) { current.refusal = refusal })
	}
	if t.endpoint.now().Before(refusal.Until) {
		return refusal.asError()
	}
	return nil
}

// asError is the answer of an account that is left alone.
func (r Refusal) asError() *push.CallError {
	return &push.CallError{
		Op: OpGetToken, ErrCode: r.ErrCode,
		Message: fmt.Sprintf("%s refused %d times in a row: %s", r.Op, r.Streak, r.Message),
		Class:   reason.Credentials,
		Err:     &NotBeforeError{Until: r.Until, Reason: reason.Suspended},
	}
}

// refuse notes that WeCom refused the tenant's account. Answers that arrive
// while the account is already left alone are of the same time and do not
// count again.
func (t *Tokens) refuse(ctx context.Context, tenant string, answer *push.CallError) {
	now := t.endpoint.now()
	var refusal Refusal
	var key string
	t.update(tenant, func(known *tenancy) {
		if now.Before(known.refusal.Until) {
			return
		}
		streak := known.refusal.Streak + 1
		refusal = Refusal{
			Op: answer.Op, ErrCode: answer.ErrCode, Message: answer.Message,
			Streak: streak, Until: now.Add(t.refusalDelay(streak)),
		}
		known.refusal = refusal
		key = known.key
	})
	if key == "" {
		return
	}
	t.store.putRefusal(ctx, key, refusal, refusal.Until.Sub(now)+2*t.options.MaxRefusalDelay)
	t.endpoint.log.WarnContext(ctx, "WeCom refuses the tenant's account",
		slog.String("tenant", tenant), slog.String("op", answer.Op), slog.Int("errcode", answer.ErrCode),
		slog.Int("streak", refusal.Streak), slog.Time("until", refusal.Until))
}

func (t *Tokens) refusalDelay(streak int) time.Duration {
	delay := t.options.RefusalDelay
	for range streak - 1 {
		if delay >= t.options.MaxRefusalDelay/2 {
			return t.options.MaxRefusalDelay
		}
		delay *= 2
	}
	return delay
}

// accepted ends a run of refusals.
func (t *Tokens) accepted(ctx context.Context, tenant string) {
	var key string
	t.update(tenant, func(known *tenancy) {
		if known.refusal.Streak > 0 {
			key = known.key
		}
		known.drops, known.refusal = 0, Refusal{}
	})
	if key != "" {
		t.store.dropRefusal(ctx, key)
	}
}

// Forgive lets a tenant's account be tried at once, after an operator put
// right what WeCom refused. New credentials need no forgiving.
func (t *Tokens) Forgive(ctx context.Context, tenant string) error {
	owner, err := t.account(ctx, tenant)
	if err != nil {
		return fmt.Errorf("forgive %s: %w", tenant, err)
	}
	t.update(tenant, func(known *tenancy) { known.drops, known.refusal = 0, Refusal{} })
	t.store.dropRefusal(ctx, owner.key())
	return nil
}
