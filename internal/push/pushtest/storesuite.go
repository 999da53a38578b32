package pushtest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// StoreBench is a store under test and the producer that feeds it. The
// producer's functions end the test when they fail.
type StoreBench struct {
	Store         push.Store
	PutTenant     func(tenant roster.Tenant)
	PutStaff      func(tenant string, staff ...roster.Staff)
	PutCode       func(code roster.Code)
	CountAddition func(ref push.Ref, staff string, day roster.Day)
	// Now is the store's clock; the suite counts additions on days around it.
	Now func() time.Time
}

// storeTests are the contract, by what it is about.
var storeTests = suitetest.Suite[StoreBench]{
	"facts": {
		"are read as written":                              factsAsWritten,
		"are read without a record":                        factsAlone,
		"hold the fallback only where the policy names it": factsFallback,
		"leave out staff that nobody wrote":                factsMissingStaff,
		"of a code without members have no staff":          factsNobody,
		"hold 300 members":                                 factsManyMembers,
		"count additions":                                  factsAdditions,
		"of an unknown code":                               factsUnknownCode,
		"of an unknown tenant":                             factsUnknownTenant,
		"of another tenant's code":                         factsWrongTenant,
		"cannot be read when the context has ended":        factsCancelled,
	},
	"record": {
		"of a code that was never pushed is zero":        recordZero,
		"begins one epoch after the other":               recordBegins,
		"refuses to begin from an epoch that is over":    recordStaleBegin,
		"has one winner an epoch":                        recordBeginRace,
		"begins after a failure":                         recordBeginsAfterFailure,
		"begins while a failure is being written":        recordBeginDuringFailure,
		"keeps the newest intents":                       recordKeepsNewest,
		"drops one intent":                               recordDrops,
		"commits":                                        recordCommits,
		"refuses a superseded commit":                    recordSuperseded,
		"is committed by one of two racing epochs":       recordCommitRace,
		"keeps notes of a code that was never pushed":    recordNotesFirst,
		"expects a change and only brings it forward":    recordExpects,
		"expects a change with a commit that succeeds":   recordExpectsWithCommit,
		"is expected to change by nobody's wish alone":   recordExpectsNothing,
		"keeps and clears a failure":                     recordFailure,
		"is nobody's but its tenant's":                   recordTenantWall,
		"cannot be written when the context has ended":   recordCancelled,
		"shares no memory with what it was written from": recordNoAliasing,
	},
	"round": {
		"advances before anything was counted": roundFirst,
		"advances and empties its counters":    roundAdvances,
		"has one winner":                       roundRace,
		"keeps what is counted beside it":      roundBesideAdditions,
	},
	"deleted": {
		"is noted and closes the record":        deletedCloses,
		"may be noted again":                    deletedTwice,
		"is not noted on another tenant's code": deletedWall,
	},
	"refusals": {
		"keep and end a search":               searchKept,
		"quarantine and never for less":       quarantineGrows,
		"quarantine nobody who is not there":  quarantineUnknown,
		"suspend a tenant and end it":         suspensionKept,
		"let one of many make the probe":      suspensionRace,
		"leave a suspension to who has moved": suspensionStale,
	},
}

// TestStore is the contract of push.Store. Every subtest gets an empty store
// from the factory, which cleans up after itself.
func TestStore(t *testing.T, factory func(t *testing.T) StoreBench) {
	suitetest.Run(t, storeTests, factory)
}

// The code most subtests are about.
var (
	acme = push.Ref{Tenant: "acme", Code: "code-1"}
	// equal lets an empty map or list stand for a missing one.
	equal = cmpopts.EquateEmpty()
)

// seed writes a tenant, two staff members and a code.
func (b StoreBench) seed() {
	b.PutTenant(roster.Tenant{ID: acme.Tenant, TimeZone: "Asia/Shanghai"})
	b.PutStaff(acme.Tenant, roster.Staff{ID: "li.na"}, roster.Staff{ID: "wang"})
	b.PutCode(roster.Code{
		ID: acme.Code, Tenant: acme.Tenant, ConfigID: "cfg", Family: roster.Native,
		Members: []roster.Member{{Staff: "li.na"}, {Staff: "wang"}},
	})
}

func (b StoreBench) load(t *testing.T, ref push.Ref) (roster.Facts, push.Record) {
	t.Helper()
	facts, record, err := b.Store.Load(t.Context(), ref)
	if err != nil {
		t.Fatalf("Load(%v): %v", ref, err)
	}
	return facts, record
}

// begin opens the intent of the epoch after seen and fails unless it can.
func (b StoreBench) begin(t *testing.T, seen int64) push.Intent {
	t.Helper()
	intent := b.intent(seen + 1)
	if ok, err := b.Store.Begin(t.Context(), acme, seen, intent); !ok || err != nil {
		t.Fatalf("Begin from epoch %d = %v, %v; want true", seen, ok, err)
	}
	return intent
}

func (b StoreBench) intent(epoch int64) push.Intent {
	deadline := b.instant().Add(time.Duration(epoch) * time.Second)
	return push.Intent{Epoch: epoch, Hash: "hash", Owner: "instance-1", Deadline: deadline}
}

// instant is the store's now in the milliseconds that a store keeps.
func (b StoreBench) instant() time.Time { return b.Now().UTC().Truncate(time.Millisecond) }

func (b StoreBench) wantRecord(t *testing.T, want push.Record) {
	t.Helper()
	_, got := b.load(t, acme)
	want.Code = acme.Code
	if diff := cmp.Diff(want, got, equal); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}
