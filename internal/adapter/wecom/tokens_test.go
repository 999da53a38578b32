package wecom_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// steady draws no jitter.
func steady() float64 { return 0 }

func TestOneFetchForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{})
		b.stub.before = func(string) { elapse(time.Second) }
		var asking sync.WaitGroup
		for range 100 {
			asking.Go(func() {
				if token := mustToken(t, b.tokens); token != tokenTag+"1" {
					t.Errorf("token %q", token)
				}
			})
		}
		asking.Wait()
		if n := b.stub.count("gettoken"); n != 1 {
			t.Errorf("%d fetches", n)
		}
	})
}

// Ten instances that need a token at the same instant fetch one.
func TestOneFetchForAllInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := wecom.TokensOptions{Store: wecom.NewMemoryStore(nil)}
		b := newBench(t, options)
		b.stub.before = func(string) { elapse(time.Second) }
		var asking sync.WaitGroup
		for range 10 {
			instance := b.sibling(t, options)
			asking.Go(func() {
				if token := mustToken(t, instance); token != tokenTag+"1" {
					t.Errorf("token %q", token)
				}
			})
		}
		asking.Wait()
		if n := b.stub.count("gettoken"); n != 1 {
			t.Errorf("%d fetches", n)
		}
	})
}

// An instance that died with the lease delays the others, no more.
func TestLeaseOfTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{Store: leasedStore{wecom.NewMemoryStore(nil)}})
		began := time.Now()
		mustToken(t, b.tokens)
		if waited := time.Since(began); waited < 3*time.Second || waited > 4*time.Second {
			t.Errorf("waited %v for the other", waited)
		}
	})
}

func TestStoreDown(t *testing.T) {
	b := newBench(t, wecom.TokensOptions{Store: brokenStore{}})
	for range 3 {
		mustToken(t, b.tokens)
	}
	b.stub.next(wecom.OpUpdate, 40014)
	if err := b.update(t); err != nil {
		t.Error(err)
	}
	b.wantCalls(t, 2, 2)
}

// A store that hangs costs its time-out on a fetch, not the call.
func TestStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{Store: hangingStore{}})
		began := time.Now()
		mustToken(t, b.tokens)
		if waited := time.Since(began); waited > 3*time.Second {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{Rand: func() float64 { return 0.5 }})
		first := mustToken(t, b.tokens)
		elapse(2*time.Hour - 7*time.Minute - 31*time.Second)
		if again := mustToken(t, b.tokens); again != first {
			t.Error("refreshed before 5 min and half the jitter of 5 min")
		}
		elapse(2 * time.Second)
		if next := mustToken(t, b.tokens); next == first {
			t.Error("not refreshed 7 min 29 s before the end")
		}
	})
}

// While a refresh fails the old token serves until its end.
func TestRefreshFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{Rand: steady})
		first := mustToken(t, b.tokens)
		elapse(2*time.Hour - 4*time.Minute)
		b.stub.next("gettoken", -1, -1)
		for range 100 {
			if token := mustToken(t, b.tokens); token != first {
				t.Errorf("token %q", token)
			}
		}
		if n := b.stub.count("gettoken"); n != 2 {
			t.Errorf("%d fetches; a failed refresh is tried again after 5 s", n)
		}
		elapse(4 * time.Minute)
		if _, err := b.tokens.Token(t.Context(), tenant); err == nil {
			t.Error("a token beyond its end and a fetch that fails gave no error")
		}
		if token := mustToken(t, b.tokens); token == first {
			t.Error("the old token came back")
		}
	})
}

// WeCom gives the same token while it lasts: asking for another is done once.
func TestRefreshGivesTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{Rand: steady})
		mustToken(t, b.tokens)
		elapse(2*time.Hour - 4*time.Minute)
		b.stub.sameNext, b.stub.lifetime = true, 240
		for range 23 {
			mustToken(t, b.tokens)
			elapse(10 * time.Second)
		}
		if n := b.stub.count("gettoken"); n != 2 {
			t.Errorf("%d fetches", n)
		}
	})
}

// While another instance refreshes, the token that lasts is used.
func TestRefreshByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := wecom.NewMemoryStore(nil)
		b := newBench(t, wecom.TokensOptions{Store: store, Rand: steady})
		other := b.sibling(t, wecom.TokensOptions{Store: store, Rand: steady})
		first := mustToken(t, b.tokens)
		if mustToken(t, other) != first {
			t.Error("not shared")
		}
		elapse(2*time.Hour - 4*time.Minute)
		b.stub.before = func(string) { elapse(time.Second) }
		var refreshing sync.WaitGroup
		refreshing.Go(func() { mustToken(t, b.tokens) })
		synctest.Wait()
		began := time.Now()
		if mustToken(t, other) != first || time.Since(began) > 0 {
			t.Error("waited for the other's refresh")
		}
		refreshing.Wait()
		elapse(5 * time.Second)
		if mustToken(t, other) != tokenTag+"2" || b.stub.count("gettoken") != 2 {
			t.Error("the other's refresh was not taken")
		}
	})
}

// A refused token that is not the current one drops nothing: ten calls with
// one bad token cost one fetch.
func TestManyRefusalsOfOneToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{})
		mustToken(t, b.tokens)
		b.stub.revoke()
		b.stub.before = func(string) { elapse(time.Second) }
		var calling sync.WaitGroup
		for range 10 {
			calling.Go(func() {
				if err := b.update(t); err != nil {
					t.Error(err)
				}
			})
		}
		calling.Wait()
		b.wantCalls(t, 2, 20)
	})
}

// A refusal that arrives late, after its token was replaced, drops nothing.
func TestLateRefusal(t *testing.T) {
	b := newBench(t, wecom.TokensOptions{Store: brokenStore{}})
	first, err := b.tokens.Token(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	b.stub.revoke()
	if err := b.update(t); err != nil {
		t.Fatal(err)
	}
	b.tokens.Report(t.Context(), tenant, first, &push.CallError{ErrCode: 40014})
	if token := mustToken(t, b.tokens); token != tokenTag+"2" || b.stub.count("gettoken") != 2 {
		t.Errorf("token %q after %d fetches", token, b.stub.count("gettoken"))
	}
}

// A refused token leaves the store, and the lease it was fetched under was
// given up: an instance that starts now fetches another at once.
func TestRefusedTokenLeavesTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := wecom.NewMemoryStore(nil)
		b := newBench(t, wecom.TokensOptions{Store: store})
		first, err := b.tokens.Token(t.Context(), tenant)
		if err != nil {
			t.Fatal(err)
		}
		b.tokens.Report(t.Context(), tenant, first, &push.CallError{ErrCode: 42001})
		began := time.Now()
		if token := mustToken(t, b.sibling(t, wecom.TokensOptions{Store: store})); token != tokenTag+"2" {
			t.Errorf("token %q", token)
		}
		if waited := time.Since(began); waited > 0 {
			t.Errorf("waited %v for a lease", waited)
		}
	})
}

// A token that another instance put between the look and the lease is taken.
func TestTokenComesBeforeTheLease(t *testing.T) {
	b := newBench(t, wecom.TokensOptions{Store: racingStore{wecom.NewMemoryStore(nil)}})
	if token := mustToken(t, b.tokens); token != "of another" || b.stub.count("gettoken") != 0 {
		t.Errorf("token %q after %d fetches", token, b.stub.count("gettoken"))
	}
}

// The refused token is not taken from the store again, even if the store did
// not hear of the refusal.
func TestRefusedTokenStaysInTheStore(t *testing.T) {
	b := newBench(t, wecom.TokensOptions{Store: deafStore{wecom.NewMemoryStore(nil)}})
	mustToken(t, b.tokens)
	b.stub.revoke()
	if err := b.update(t); err != nil {
		t.Error(err)
	}
	b.wantCalls(t, 2, 2)
}

// A refusal of a token that another instance has replaced leaves that one.
func TestRefusalOfAnOldToken(t *testing.T) {
	store := wecom.NewMemoryStore(nil)
	b := newBench(t, wecom.TokensOptions{Store: store})
	other := b.sibling(t, wecom.TokensOptions{Store: store})
	mustToken(t, b.tokens)
	mustToken(t, other)
	b.stub.revoke()
	if err := b.update(t); err != nil {
		t.Fatal(err)
	}
	if err := wecom.NewClient(b.endpoint, other).DelContactWay(t.Context(), tenant, "c1"); err != nil {
		t.Error(err)
	}
	if n := b.stub.count("gettoken"); n != 2 {
		t.Errorf("%d fetches", n)
	}
}

// The first to ask may give up; the fetch goes on for the others.
func TestFirstToAskGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{})
		b.stub.before = func(string) { elapse(2 * time.Second) }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var asking sync.WaitGroup
		asking.Go(func() {
			if _, err := b.tokens.Token(ctx, tenant); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first got %v", err)
			}
		})
		synctest.Wait()
		mustToken(t, b.tokens)
		asking.Wait()
		if n := b.stub.count("gettoken"); n != 1 {
			t.Errorf("%d fetches", n)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{Store: leasedStore{wecom.NewMemoryStore(nil)}})
		ended := make(chan error, 1)
		go func() {
			_, err := b.tokens.Token(t.Context(), tenant)
			ended <- err
		}()
		synctest.Wait()
		began := time.Now()
		b.tokens.Close()
		if err := <-ended; err == nil || time.Since(began) > 0 {
			t.Errorf("a fetch under way went on: %v after %v", err, time.Since(began))
		}
		if _, err := b.tokens.Token(t.Context(), tenant); err == nil {
			t.Error("a fetch began after the end")
		}
	})
}

// More tenants than the bound cost fetches, not memory.
func TestBoundOfTenants(t *testing.T) {
	b := newBench(t, wecom.TokensOptions{MaxTenants: 2})
	for _, name := range []string{"a", "b", "c", "b", "c", "a"} {
		if _, err := b.tokens.Token(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.credentials.asked; n != 4 {
		t.Errorf("asked for credentials %d times; want a, b, c and a again", n)
	}
	if n := b.stub.count("gettoken"); n != 3 {
		t.Errorf("%d fetches; a's token was still in the store", n)
	}
}

func TestRefusalsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{})
		b.credentials.secret = "wrong"
		for i, minutes := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
			_, err := b.tokens.Token(t.Context(), tenant)
			if got := callError(t, err); got.Class != reason.Credentials || got.ErrCode != 40001 {
				t.Fatalf("refusal %d: %+v", i+1, got)
			}
			_, err = b.tokens.Token(t.Context(), tenant)
			until := notBefore(t, err)
			if got := time.Until(until); got != time.Duration(minutes)*time.Minute {
				t.Errorf("refusal %d: left alone for %v, want %d min", i+1, got, minutes)
			}
			elapse(time.Until(until))
			if n := b.stub.count("gettoken"); n != i+1 {
				t.Fatalf("%d fetches after %d refusals", n, i+1)
			}
		}
	})
}

// New credentials are tried at once, and so is an account that an operator put
// right.
func TestRefusalEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := wecom.TokensOptions{Store: wecom.NewMemoryStore(nil)}
		b := newBench(t, options)
		b.credentials.secret = "wrong"
		if _, err := b.tokens.Token(t.Context(), tenant); err == nil {
			t.Fatal("accepted")
		}
		b.credentials.secret = secret
		mustToken(t, b.tokens)

		b.stub.next(wecom.OpUpdate, 60020)
		for range 2 {
			if b.update(t) == nil {
				t.Fatal("not left alone")
			}
		}
		if err := b.tokens.Forgive(t.Context(), tenant); err != nil {
			t.Error(err)
		}
		mustToken(t, b.sibling(t, options))
		if err := b.update(t); err != nil {
			t.Errorf("not tried after it was forgiven: %v", err)
		}
	})
}

// The run ends when WeCom accepts a call, not when it gives a token.
func TestRunOfRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{})
		delay := func() time.Duration {
			t.Helper()
			b.stub.next(wecom.OpUpdate, 60020)
			if b.update(t) == nil {
				t.Fatal("accepted")
			}
			until := notBefore(t, b.update(t))
			wait := time.Until(until)
			elapse(wait)
			return wait
		}
		if first, second := delay(), delay(); first != time.Minute || second != 2*time.Minute {
			t.Errorf("left alone for %v, %v", first, second)
		}
		b.stub.next(wecom.OpUpdate, -1) // busy: it says nothing of the account
		_ = b.update(t)
		if third := delay(); third != 4*time.Minute {
			t.Errorf("after an answer that says nothing: %v", third)
		}
		if err := b.update(t); err != nil {
			t.Fatal(err)
		}
		if again := delay(); again != time.Minute {
			t.Errorf("after a call was accepted: %v", again)
		}
	})
}

// Calls that were under way when the account was refused are one refusal.
func TestRefusalsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, wecom.TokensOptions{})
		mustToken(t, b.tokens)
		b.stub.before = func(string) { elapse(time.Second) }
		b.stub.next(wecom.OpUpdate, 60020, 60020, 60020, 60020, 60020)
		var calling sync.WaitGroup
		for range 5 {
			calling.Go(func() { _ = b.update(t) })
		}
		calling.Wait()
		if got := time.Until(notBefore(t, b.update(t))); got != time.Minute {
			t.Errorf("left alone for %v", got)
		}
	})
}

// A restart and another instance know of the refusal and how long its run is,
// beyond its delay; they know as well that it has ended.
func TestRefusalIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := wecom.TokensOptions{Store: wecom.NewMemoryStore(nil)}
		b := newBench(t, options)
		refusedFor := func(client *wecom.Client) time.Duration {
			t.Helper()
			return time.Until(notBefore(t, client.DelContactWay(t.Context(), tenant, "c1")))
		}
		restarted := func() *wecom.Client { return wecom.NewClient(b.endpoint, b.sibling(t, options)) }

		b.stub.next(wecom.OpDelete, 60020)
		_ = b.client.DelContactWay(t.Context(), tenant, "c1")
		if got := refusedFor(restarted()); got != time.Minute {
			t.Errorf("another is refused for %v", got)
		}
		elapse(time.Minute)
		b.stub.next(wecom.OpDelete, 60020)
		second := restarted()
		_ = second.DelContactWay(t.Context(), tenant, "c1")
		if got := refusedFor(second); got != 2*time.Minute {
			t.Errorf("after the second refusal in a row: %v", got)
		}
		if b.stub.count(wecom.OpDelete) != 2 {
			t.Errorf("%d calls", b.stub.count(wecom.OpDelete))
		}

		elapse(2 * time.Minute)
		if err := second.DelContactWay(t.Context(), tenant, "c1"); err != nil {
			t.Fatal(err)
		}
		b.stub.next(wecom.OpDelete, 60020)
		third := restarted()
		_ = third.DelContactWay(t.Context(), tenant, "c1")
		if got := refusedFor(third); got != time.Minute {
			t.Errorf("after the run ended: %v", got)
		}
	})
}
