package redisbudget

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/push"
)

func TestTryRunsTheScriptsAndItsKeysExpire(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	b, err := New(client, Options{Prefix: "try:"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Try(t.Context(), push.Ask{Ref: push.Ref{Tenant: "t", Code: "c"}}); err != nil {
		t.Fatal(err)
	}
	server.FastForward(time.Hour)
	if left := server.Keys(); len(left) > 0 {
		t.Errorf("keys that stay: %q", left)
	}
	server.Close()
	if err := b.Try(t.Context(), push.Ask{Ref: push.Ref{Tenant: "t", Code: "c"}}); err == nil {
		t.Error("no error without Redis")
	}
}
