package registrytest

import (
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

type answersTest func(t *testing.T, a registry.Answers)

var answersTests = map[string]answersTest{
	"the first request claims, a repeat gets its answer":  answersReplay,
	"the same key with another request":                   answersReused,
	"a key that was dropped is free":                      answersDropped,
	"a key whose request died is free for the same again": answersDied,
	"a key is forgotten":                                  answersForgotten,
	"a claim that is over settles nothing":                answersLate,
	"keys of scopes are apart":                            answersScopes,
	"of many requests at once one claims":                 answersRace,
}

// TestAnswers holds a store to the contract of registry.Answers.
func TestAnswers(t *testing.T, bench func(t *testing.T) registry.Answers) {
	for name, test := range answersTests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, bench(t))
		})
	}
}

func claimOf(scope, fingerprint string, now time.Time) registry.Claim {
	return registry.Claim{
		Scope: scope, Key: "k.1/$x", Fingerprint: fingerprint, Until: now.Add(time.Minute), Expires: now.Add(24 * time.Hour),
	}
}

func wantClaim(t *testing.T, a registry.Answers, claim registry.Claim, now time.Time, want registry.ClaimState) registry.Answer {
	t.Helper()
	got, answer, err := a.Claim(t.Context(), claim, now)
	must(t, err)
	if got != want {
		t.Errorf("the claim's state is %d, want %d", got, want)
	}
	return answer
}

func answersReplay(t *testing.T, a registry.Answers) {
	claim := claimOf("acme", "f", at)
	wantClaim(t, a, claim, at, registry.Claimed)
	wantClaim(t, a, claim, at, registry.InProgress)
	answer := registry.Answer{Status: 201, Body: []byte(`{"created":true}`), Location: "/v1/tenants/acme"}
	must(t, a.Store(t.Context(), claim, answer))
	later := at.Add(time.Hour)
	suitetest.WantSame(t, "the answer", answer, wantClaim(t, a, claimOf("acme", "f", later), later, registry.Answered))
}

func answersReused(t *testing.T, a registry.Answers) {
	claim := claimOf("acme", "f", at)
	wantClaim(t, a, claim, at, registry.Claimed)
	wantClaim(t, a, claimOf("acme", "g", at), at, registry.Reused)
	must(t, a.Store(t.Context(), claim, registry.Answer{Status: 200}))
	wantClaim(t, a, claimOf("acme", "g", at), at, registry.Reused)
}

func answersDropped(t *testing.T, a registry.Answers) {
	claim := claimOf("acme", "f", at)
	wantClaim(t, a, claim, at, registry.Claimed)
	must(t, a.Drop(t.Context(), claim))
	wantClaim(t, a, claimOf("acme", "g", at), at, registry.Claimed)
}

func answersDied(t *testing.T, a registry.Answers) {
	wantClaim(t, a, claimOf("acme", "f", at), at, registry.Claimed)
	later := at.Add(time.Minute)
	wantClaim(t, a, claimOf("acme", "g", later), later, registry.Reused)
	wantClaim(t, a, claimOf("acme", "f", later), later, registry.Claimed)
}

func answersForgotten(t *testing.T, a registry.Answers) {
	claim := claimOf("acme", "f", at)
	wantClaim(t, a, claim, at, registry.Claimed)
	must(t, a.Store(t.Context(), claim, registry.Answer{Status: 200}))
	later := at.Add(24 * time.Hour)
	wantClaim(t, a, claimOf("acme", "g", later), later, registry.Claimed)
}

// A request that was taken for dead ends after all.
func answersLate(t *testing.T, a registry.Answers) {
	late := claimOf("acme", "f", at)
	wantClaim(t, a, late, at, registry.Claimed)
	now := at.Add(time.Minute)
	wantClaim(t, a, claimOf("acme", "f", now), now, registry.Claimed)
	must(t, a.Store(t.Context(), late, registry.Answer{Status: 200}))
	must(t, a.Drop(t.Context(), late))
	wantClaim(t, a, claimOf("acme", "f", now), now, registry.InProgress)
}

func answersScopes(t *testing.T, a registry.Answers) {
	wantClaim(t, a, claimOf("acme", "f", at), at, registry.Claimed)
	wantClaim(t, a, claimOf("globex", "g", at), at, registry.Claimed)
	wantClaim(t, a, claimOf("", "h", at), at, registry.Claimed)
}

func answersRace(t *testing.T, a registry.Answers) {
	var all sync.WaitGroup
	var mu sync.Mutex
	claimed := 0
	for range 16 {
		all.Go(func() {
			state, _, err := a.Claim(t.Context(), claimOf("acme", "f", at), at)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case state == registry.Claimed:
				claimed++
			case state != registry.InProgress:
				t.Errorf("a loser's state is %d", state)
			}
		})
	}
	all.Wait()
	if claimed != 1 {
		t.Errorf("%d requests have claimed", claimed)
	}
}
