package ratelimit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/ratelimit"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// A refusal says how long to wait, and takes nothing: who waits that long is
// let in.
func TestWhoWaitsIsLetIn(t *testing.T) {
	now := noon
	k := ratelimit.NewKeyed[string](ratelimit.Limit{PerSecond: 2, Burst: 3}, 10, func() time.Time { return now })
	for i := range 3 {
		if wait := k.Wait("a"); wait != 0 {
			t.Errorf("request %d of a burst of 3 waits %s", i+1, wait)
		}
	}
	for range 5 {
		if wait := k.Wait("a"); wait != 500*time.Millisecond {
			t.Errorf("beyond the burst: wait %s, want 500ms", wait)
		}
	}
	if wait := k.Wait("b"); wait != 0 {
		t.Errorf("another client waits %s", wait)
	}
	now = now.Add(500 * time.Millisecond)
	if wait := k.Wait("a"); wait != 0 {
		t.Errorf("who waited waits %s more", wait)
	}
}

// Who asks all the time is not forgotten for the many who ask once.
func TestWhoAsksIsNotForgotten(t *testing.T) {
	k := ratelimit.NewKeyed[int](ratelimit.Limit{PerSecond: 1, Burst: 1}, 10, func() time.Time { return noon })
	k.Wait(0)
	for other := 1; other <= 1000; other++ {
		k.Wait(other)
		if k.Wait(0) == 0 {
			t.Fatalf("after %d others the burst began anew", other)
		}
	}
}

func TestConcurrentRequestsShareABucket(t *testing.T) {
	k := ratelimit.NewKeyed[string](ratelimit.Limit{PerSecond: 1, Burst: 100}, 10, func() time.Time { return noon })
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if k.Wait("a") == 0 {
					passed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if passed.Load() != 100 {
		t.Errorf("%d requests passed, want the burst of 100", passed.Load())
	}
}
