package redissession

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

func TestASignOutIsKnownToAllUntilTheSessionEnds(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	here, there, others := New(client, "a:"), New(client, "a:"), New(client, "b:")
	want := func(s *SignOuts, session string, want bool) {
		t.Helper()
		if got, err := s.Ended(t.Context(), session); got != want || err != nil {
			t.Errorf("%s: %t, %v; want %t", session, got, err, want)
		}
	}
	want(there, "one", false)
	if err := here.End(t.Context(), "one", 8*time.Hour); err != nil {
		t.Fatal(err)
	}
	want(there, "one", true)
	want(there, "two", false)
	want(others, "one", false)
	server.FastForward(8 * time.Hour)
	want(there, "one", false)
	if keys := server.Keys(); len(keys) > 0 {
		t.Errorf("%q are kept", keys)
	}
	server.Close()
	if _, err := there.Ended(t.Context(), "one"); err == nil {
		t.Error("Redis is away, and nobody is told")
	}
	if err := here.End(t.Context(), "two", time.Hour); err == nil {
		t.Error("Redis is away, and a sign-out is taken for noted")
	}
}
