package redisbudget

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/push"
)

var errTry = errors.New("an idle bucket admitted no call")

// Try runs the scripts once for a code, as a call that is admitted, and booked
// elsewhere, would; unlike Admit it fails when Redis does. It is for keys of its
// own: the Budget has a Prefix that nobody else has. The keys expire.
func (b *Budget) Try(ctx context.Context, ask push.Ask) error {
	for name, script := range map[string]*redis.Script{
		"admit": admitScript, "release": releaseScript, "give back": giveBackScript, "block": blockScript, "spare": spareScript,
	} {
		if err := script.Load(ctx, b.scripts.client).Err(); err != nil {
			return fmt.Errorf("load the script to %s: %w", name, err)
		}
	}
	q := b.tenantQuestion(ask.Tenant, ask.Code)
	r, err := b.ask(ctx, q)
	if err != nil {
		return fmt.Errorf("ask for a call: %w", err)
	}
	if !r.granted() {
		return errTry
	}
	if err := b.scripts.release(ctx, q, r, 0); err != nil {
		return fmt.Errorf("release it: %w", err)
	}
	if _, err := b.scripts.giveBack(ctx, q.keys, q.id); err != nil {
		return fmt.Errorf("give it back: %w", err)
	}
	if _, _, err := b.scripts.block(ctx, q, blockSpans{time.Second, time.Second, time.Second}); err != nil {
		return fmt.Errorf("block the tenant: %w", err)
	}
	return nil
}
