package leasetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop/lease"
)

const role = "keeper"

// TestStore is the contract of a lease.Store. Every subtest gets an empty one
// from the factory, which cleans up after itself.
func TestStore(t *testing.T, factory func(t *testing.T) lease.Store) {
	tests := map[string]func(t *testing.T, s lease.Store){
		"knows no lease that nobody took":         unknown,
		"keeps what was taken":                    taken,
		"is taken only as it was seen":            takenAsSeen,
		"is taken by one candidate":               takenByOne,
		"is first taken by one candidate":         firstTakenByOne,
		"counts renewals of the holder":           renewed,
		"is free once released, its token stays":  released,
		"is not released by a holder of the past": releasedLate,
		"keeps the roles apart":                   roles,
		"cannot be asked when the context ended":  cancelled,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, factory(t))
		})
	}
}

func unknown(t *testing.T, s lease.Store) {
	want(t, s, lease.State{})
	if ok, err := s.Renew(t.Context(), role, 1); ok || err != nil {
		t.Errorf("Renew of a lease that nobody took = %v, %v; want false", ok, err)
	}
	if err := s.Release(t.Context(), role, 1); err != nil {
		t.Errorf("Release of a lease that nobody took = %v", err)
	}
	want(t, s, lease.State{})
}

func taken(t *testing.T, s lease.Store) {
	want(t, s, take(t, s, lease.State{}, "a"))
}

func takenAsSeen(t *testing.T, s lease.Store) {
	first := take(t, s, lease.State{}, "a")
	renew(t, s, 1)
	for name, seen := range map[string]lease.State{"before it was renewed": first, "before it was taken": {}, "of the future": {Token: 2}} {
		if ok, err := s.Take(t.Context(), role, seen, lease.State{Token: seen.Token + 1, Holder: "b"}); ok || err != nil {
			t.Errorf("Take of a lease as it was %s = %v, %v; want false", name, ok, err)
		}
	}
	want(t, s, lease.State{Token: 1, Renewals: 1, Holder: "a", TTL: time.Minute})
	want(t, s, take(t, s, lease.State{Token: 1, Renewals: 1}, "b"))
}

func takenByOne(t *testing.T, s lease.Store) {
	oneWins(t, s, take(t, s, lease.State{}, "a"))
}

func firstTakenByOne(t *testing.T, s lease.Store) {
	oneWins(t, s, lease.State{})
}

func renewed(t *testing.T, s lease.Store) {
	take(t, s, lease.State{}, "a")
	renew(t, s, 1)
	renew(t, s, 1)
	if ok, err := s.Renew(t.Context(), role, 2); ok || err != nil {
		t.Errorf("Renew with another token = %v, %v; want false", ok, err)
	}
	want(t, s, lease.State{Token: 1, Renewals: 2, Holder: "a", TTL: time.Minute})
}

func released(t *testing.T, s lease.Store) {
	take(t, s, lease.State{}, "a")
	release(t, s, 1)
	want(t, s, lease.State{Token: 1, TTL: time.Minute})
	if ok, err := s.Renew(t.Context(), role, 1); ok || err != nil {
		t.Errorf("Renew of a released lease = %v, %v; want false", ok, err)
	}
	want(t, s, take(t, s, lease.State{Token: 1}, "b"))
}

func releasedLate(t *testing.T, s lease.Store) {
	next := take(t, s, take(t, s, lease.State{}, "a"), "b")
	release(t, s, 1)
	want(t, s, next)
}

func roles(t *testing.T, s lease.Store) {
	take(t, s, lease.State{}, "a")
	other, err := s.Read(t.Context(), "another role")
	if err != nil || other != (lease.State{}) {
		t.Errorf("the lease of another role is %+v, %v", other, err)
	}
}

func cancelled(t *testing.T, s lease.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Read(ctx, role); !errors.Is(err, context.Canceled) {
		t.Errorf("Read = %v, want context.Canceled", err)
	}
	if _, err := s.Take(ctx, role, lease.State{}, lease.State{Token: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Take = %v, want context.Canceled", err)
	}
}

// oneWins lets many take the lease as they all saw it.
func oneWins(t *testing.T, s lease.Store, seen lease.State) {
	t.Helper()
	const candidates = 16
	var wins atomic.Int64
	var racing sync.WaitGroup
	for i := range candidates {
		racing.Go(func() {
			ok, err := s.Take(t.Context(), role, seen, lease.State{Token: seen.Token + 1, Holder: fmt.Sprint(i)})
			if err != nil {
				t.Errorf("Take: %v", err)
			}
			if ok {
				wins.Add(1)
			}
		})
	}
	racing.Wait()
	if n := wins.Load(); n != 1 {
		t.Errorf("%d candidates took one lease", n)
	}
}

func take(t *testing.T, s lease.Store, seen lease.State, holder string) lease.State {
	t.Helper()
	next := lease.State{Token: seen.Token + 1, Holder: holder, TTL: time.Minute}
	if ok, err := s.Take(t.Context(), role, seen, next); !ok || err != nil {
		t.Fatalf("Take(%+v) = %v, %v; want true", seen, ok, err)
	}
	return next
}

func renew(t *testing.T, s lease.Store, token int64) {
	t.Helper()
	if ok, err := s.Renew(t.Context(), role, token); !ok || err != nil {
		t.Fatalf("Renew(%d) = %v, %v; want true", token, ok, err)
	}
}

func release(t *testing.T, s lease.Store, token int64) {
	t.Helper()
	if err := s.Release(t.Context(), role, token); err != nil {
		t.Fatalf("Release(%d): %v", token, err)
	}
}

func want(t *testing.T, s lease.Store, want lease.State) {
	t.Helper()
	got, err := s.Read(t.Context(), role)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the lease (-want +got):\n%s", diff)
	}
}
