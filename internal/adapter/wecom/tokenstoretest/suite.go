// Package tokenstoretest is the one suite that every wecom.TokenStore passes.
//
// It owns the meaning of the two store interfaces, as tests. It refuses to
// own a server: each implementation brings its own.
package tokenstoretest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

// Store is what an implementation offers.
type Store interface {
	wecom.TokenStore
	wecom.RefusalStore
}

// Fixture is an empty store and its clock. Two stores of one suite share
// nothing.
type Fixture struct {
	Store Store
	Now   func() time.Time
	// Advance lets d pass for the store.
	Advance func(d time.Duration)
}

// tick is the shortest lifetime used; a real server has to wait it out.
const tick = 200 * time.Millisecond

// Run runs the suite; each test asks for a fixture of its own.
func Run(t *testing.T, open func(*testing.T) Fixture) {
	for name, test := range map[string]func(*testing.T, Fixture){
		"a token is what was put, until it expires":                  tokenLives,
		"another put replaces it":                                    putReplaces,
		"a key that was never put has none":                          unknownKey,
		"keys do not mix":                                            keysApart,
		"invalidating removes the refused token":                     invalidates,
		"invalidating leaves a newer token":                          invalidatesNoOther,
		"invalidating nothing is no error":                           invalidatesNothing,
		"one has the lease":                                          leaseExcludes,
		"a lease can be had after it was released":                   leaseReleases,
		"a lease can be had after it ended":                          leaseEnds,
		"a lease that ended is not taken from the next by releasing": leaseFenced,
		"a refusal is what was put, until its time is over":          refusalLives,
		"a refusal can be dropped":                                   refusalDrops,
		"an empty store refuses nobody":                              noRefusal,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func tokenLives(t *testing.T, f Fixture) {
	want := f.token("t1", 2*tick)
	f.put(t, "a", want)
	f.wantToken(t, "a", want)
	f.Advance(3 * tick)
	f.wantNone(t, "a")
}

func putReplaces(t *testing.T, f Fixture) {
	f.put(t, "a", f.token("t1", time.Hour))
	want := f.token("t2", 2*time.Hour)
	f.put(t, "a", want)
	f.wantToken(t, "a", want)
}

func unknownKey(t *testing.T, f Fixture) { f.wantNone(t, "a") }

func keysApart(t *testing.T, f Fixture) {
	a, b := f.token("ta", time.Hour), f.token("tb", time.Hour)
	f.put(t, "a", a)
	f.put(t, "b", b)
	f.wantToken(t, "b", b)
	must(t, f.Store.Invalidate(t.Context(), "b", b.Value))
	f.wantToken(t, "a", a)
	f.wantNone(t, "b")
}

func invalidates(t *testing.T, f Fixture) {
	f.put(t, "a", f.token("t1", time.Hour))
	must(t, f.Store.Invalidate(t.Context(), "a", wecom.NewSecret("t1")))
	f.wantNone(t, "a")
}

func invalidatesNoOther(t *testing.T, f Fixture) {
	want := f.token("t2", time.Hour)
	f.put(t, "a", want)
	must(t, f.Store.Invalidate(t.Context(), "a", wecom.NewSecret("t1")))
	f.wantToken(t, "a", want)
}

func invalidatesNothing(t *testing.T, f Fixture) {
	must(t, f.Store.Invalidate(t.Context(), "a", wecom.NewSecret("t1")))
	must(t, f.Store.Invalidate(t.Context(), "a", wecom.Secret{}))
}

func leaseExcludes(t *testing.T, f Fixture) {
	f.wantLease(t, "a", time.Hour)
	f.wantNoLease(t, "a", time.Hour)
	f.wantLease(t, "b", time.Hour)
}

func leaseReleases(t *testing.T, f Fixture) {
	must(t, f.wantLease(t, "a", time.Hour).Release(t.Context()))
	f.wantLease(t, "a", time.Hour)
}

func leaseEnds(t *testing.T, f Fixture) {
	f.wantLease(t, "a", tick)
	f.Advance(2 * tick)
	f.wantLease(t, "a", time.Hour)
}

func leaseFenced(t *testing.T, f Fixture) {
	late := f.wantLease(t, "a", tick)
	f.Advance(2 * tick)
	f.wantLease(t, "a", time.Hour)
	must(t, late.Release(t.Context()))
	f.wantNoLease(t, "a", time.Hour)
}

func refusalLives(t *testing.T, f Fixture) {
	want := wecom.Refusal{
		Op: "gettoken", ErrCode: 40001, Message: "invalid credential, from ip: 192.0.2.1",
		Streak: 3, Until: f.Now().Add(tick).Truncate(time.Millisecond),
	}
	must(t, f.Store.PutRefusal(t.Context(), "a", want, 4*tick))
	f.Advance(2 * tick)
	got, ok, err := f.Store.Refusal(t.Context(), "a")
	must(t, err)
	if !ok {
		t.Fatal("the refusal ended with its delay; the streak is lost")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refusal (-want +got):\n%s", diff)
	}
	f.Advance(3 * tick)
	f.wantNoRefusal(t, "a")
}

func refusalDrops(t *testing.T, f Fixture) {
	must(t, f.Store.PutRefusal(t.Context(), "a", wecom.Refusal{Streak: 1}, time.Hour))
	must(t, f.Store.DropRefusal(t.Context(), "a"))
	f.wantNoRefusal(t, "a")
	must(t, f.Store.DropRefusal(t.Context(), "a"))
}

func noRefusal(t *testing.T, f Fixture) { f.wantNoRefusal(t, "a") }

func (f Fixture) token(value string, lifetime time.Duration) wecom.Token {
	now := f.Now().Truncate(time.Millisecond)
	return wecom.Token{
		Value: wecom.NewSecret(value), Expires: now.Add(lifetime), RefreshAfter: now.Add(lifetime / 2),
	}
}

func (f Fixture) put(t *testing.T, key string, token wecom.Token) {
	t.Helper()
	must(t, f.Store.Put(t.Context(), key, token))
}

func (f Fixture) wantToken(t *testing.T, key string, want wecom.Token) {
	t.Helper()
	got, ok, err := f.Store.Get(t.Context(), key)
	must(t, err)
	if !ok {
		t.Fatalf("no token of %q", key)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(0)); diff != "" {
		t.Errorf("token of %q (-want +got):\n%s", key, diff)
	}
}

func (f Fixture) wantNone(t *testing.T, key string) {
	t.Helper()
	_, ok, err := f.Store.Get(t.Context(), key)
	must(t, err)
	if ok {
		t.Fatalf("there is a token of %q", key)
	}
}

func (f Fixture) wantLease(t *testing.T, key string, ttl time.Duration) wecom.Lease {
	t.Helper()
	lease, err := f.Store.Lease(t.Context(), key, ttl)
	must(t, err)
	if lease == nil {
		t.Fatalf("the lease of %q is taken", key)
	}
	// Whatever the test's end finds held is given up after it.
	t.Cleanup(func() { _ = lease.Release(context.WithoutCancel(t.Context())) })
	return lease
}

func (f Fixture) wantNoLease(t *testing.T, key string, ttl time.Duration) {
	t.Helper()
	lease, err := f.Store.Lease(t.Context(), key, ttl)
	must(t, err)
	if lease != nil {
		t.Fatalf("the lease of %q was given twice", key)
	}
}

func (f Fixture) wantNoRefusal(t *testing.T, key string) {
	t.Helper()
	got, ok, err := f.Store.Refusal(t.Context(), key)
	must(t, err)
	if ok {
		t.Fatalf("there is a refusal of %q: %+v", key, got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
