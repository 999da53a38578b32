//go:build integration

package redistoken_test

import (
	"bytes"
	"crypto/rand"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom/redistoken"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom/tokenstoretest"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

func TestConformanceOnRedis(t *testing.T) {
	address, err := redis.ParseURL(stacktest.RedisURL(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(address)
	t.Cleanup(func() { _ = client.Close() })
	tokenstoretest.Run(t, func(t *testing.T) tokenstoretest.Fixture {
		store, err := redistoken.New(client, redistoken.Options{
			Prefix: "test:" + rand.Text() + ":", Key: bytes.Repeat([]byte{7}, 32),
		})
		if err != nil {
			t.Fatal(err)
		}
		return tokenstoretest.Fixture{
			Store:   store,
			Now:     time.Now,
			Advance: func(d time.Duration) { <-time.After(d) },
		}
	})
}
