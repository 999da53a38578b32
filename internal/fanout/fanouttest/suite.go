package fanouttest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// Bench is a store under test and the producer whose codes it lists. The
// producer's functions end the test when they fail.
type Bench struct {
	Store     fanout.Store
	Codes     fanout.Codes
	PutTenant func(tenant roster.Tenant)
	PutCodes  func(codes ...roster.Code)
}

// suite is the contract, by what it is about.
var suite = suitetest.Suite[Bench]{
	"request": {
		"begins a job":                             requestBegins,
		"is idempotent by the newest key":          requestRepeated,
		"without a key never repeats":              requestKeyless,
		"begins an epoch and leaves the claim":     requestSupersedes,
		"of a member is not one of the tenant":     requestScopes,
		"made by many at once is one epoch a key":  requestRace,
		"of many keys at once is an epoch for all": requestRaceOfKeys,
	},
	"open": {
		"lists what nobody works on, oldest first": openLists,
		"leaves tenants out":                       openWithout,
	},
	"claim": {
		"is refused while one holds":        claimHeld,
		"is refused with another token":     claimToken,
		"is refused for an epoch gone by":   claimEpoch,
		"has one winner":                    claimRace,
		"is ended by its holder alone":      claimRelease,
		"is ended after the epoch was over": claimReleaseLater,
	},
	"save": {
		"keeps the progress":                saveKeeps,
		"is refused under a lost claim":     saveLostClaim,
		"is refused in an epoch gone by":    saveEpoch,
		"renews the claim":                  saveRenews,
		"of a job nobody requested is lost": saveNothing,
	},
	"row": {
		"is taken, taken again and ended":            rowLife,
		"is written over by a later claim":           rowReplaced,
		"is not written by an older claim":           rowOlderAdd,
		"is neither taken nor ended by an older one": rowOlderTake,
		"is of one epoch":                            rowEpoch,
		"is cleared with its epoch":                  rowCleared,
	},
	"codes": {
		"are those a member sits on":          codesOfMember,
		"are all of a tenant":                 codesOfTenant,
		"come in order, page by page":         codesPaged,
		"are none for somebody on no code":    codesOfNobody,
		"are those that fall back to him too": codesOfFallback,
	},
}

// TestStore is the contract of fanout.Store and fanout.Codes. Every subtest
// gets an empty store from the factory, which cleans up after itself.
func TestStore(t *testing.T, factory func(t *testing.T) Bench) {
	suitetest.Run(t, suite, factory)
}

// What most subtests are about.
var (
	noon  = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)
	liNa  = fanout.Scope{Tenant: "acme", Staff: "li.na"}
	acme  = fanout.Scope{Tenant: "acme"}
	lease = 10 * time.Second
)

func (b Bench) request(t *testing.T, scope fanout.Scope, key string, at time.Time) fanout.Ticket {
	t.Helper()
	ticket, err := b.Store.Request(t.Context(), fanout.Request{Scope: scope, Why: "why " + key, At: at, Key: key})
	if err != nil {
		t.Fatalf("Request: %v", err)
	}
	return ticket
}

func (b Bench) job(t *testing.T, id string) fanout.Job {
	t.Helper()
	job, found, err := b.Store.Job(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("Job(%q) = %v, %v; want one", id, found, err)
	}
	return job
}

// claimed requests a job and claims it at noon.
func (b Bench) claimed(t *testing.T) fanout.Job {
	t.Helper()
	return b.claim(t, b.job(t, b.request(t, liNa, "first", noon).ID), noon)
}

// claim claims a job at an instant and fails unless it can.
func (b Bench) claim(t *testing.T, job fanout.Job, now time.Time) fanout.Job {
	t.Helper()
	claim := fanout.Claim{Token: job.Claim.Token + 1, Owner: "keeper-1", Until: now.Add(lease)}
	if ok, err := b.Store.Claim(t.Context(), job, claim, now); !ok || err != nil {
		t.Fatalf("Claim = %v, %v; want true", ok, err)
	}
	job.Claim = claim
	return job
}

func (b Bench) wantJob(t *testing.T, want fanout.Job) {
	t.Helper()
	if diff := cmp.Diff(want, b.job(t, want.ID)); diff != "" {
		t.Errorf("job (-want +got):\n%s", diff)
	}
}
