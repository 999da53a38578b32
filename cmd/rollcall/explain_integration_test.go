//go:build integration

package main

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// Support asks why a customer reached a member who was off line: WeCom had blocked
// the tenant, and the code stood in the dirty set.
func TestExplainOnRealStores(t *testing.T) {
	t.Setenv("ROLLCALL_REDIS_URL", stacktest.RedisURL(t))
	h := newHouse(t)
	t.Setenv("ROLLCALL_REDIS_KEY_PREFIX", h.cfg.MongoDB.Database+":")
	ctx := t.Context()
	h.must(h.db.Facts().PutTenant(ctx, roster.Tenant{ID: "acme"}))
	h.must(h.db.Facts().PutStaff(ctx, "acme", roster.Staff{ID: "amy", Presence: roster.OfflineNow}, roster.Staff{ID: "bob"}))
	h.must(h.db.Facts().PutCodes(ctx, roster.Code{
		ID: "code-1", Tenant: "acme", Family: roster.Native, ConfigID: "way-1",
		Members: []roster.Member{{Staff: "amy"}, {Staff: "bob"}}, Switches: roster.Switches{OfflineCheck: true},
	}))
	wantLines(t, h.rollcall(false, "explain", "code-1"), "acme/code-1: native", "never_pushed", "Never pushed.", "bob", "eligible")

	ref := push.Ref{Tenant: "acme", Code: "code-1"}
	server, err := redis.ParseURL(stacktest.RedisURL(t))
	h.must(err)
	client := redis.NewClient(server)
	t.Cleanup(func() { _ = client.Close() })
	budget, err := redisbudget.New(client, redisbudget.Options{Prefix: h.cfg.MongoDB.Database + ":"})
	h.must(err)
	_, err = budget.Throttled(ctx, "acme", redisbudget.ErrCodeFrequency)
	h.must(err)
	h.must(h.db.Dirty().Mark(ctx, push.Mark{Ref: ref, Reason: reason.Blocked, Due: time.Now().Add(time.Hour), Detail: "45009"}))

	wantLines(t, h.rollcall(false, "explain", "acme/code-1", "--staff", "amy"),
		"amy is off the list of acme/code-1: offline, his online flag says offline.")
	wantLines(t, h.rollcall(false, "explain", "acme/code-1"), "blocked until", "WeCom answered 45009", "dirty until", "blocked (45009)")
	wantLines(t, h.rollcall(false, "explain", "code-1", "-o", "json"), `"cause": "blocked"`, `"reason": "offline"`)
	wantLines(t, h.rollcall(false, "explain", "code-1", "--live"), "WeCom could not be asked", "acme")

	wantLines(t, h.rollcall(true, "explain", "code-2"), "there is no code code-2")
	wantLines(t, h.rollcall(true, "explain", "other/code-1"), "code-1 of tenant other")
	wantLines(t, h.rollcall(true, "explain", "code-1", "--staff", "zoe"), "zoe has nothing to do with code acme/code-1")
}
