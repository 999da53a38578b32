package quotatest

import (
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// Full is all that package quota needs of a store.
type Full interface {
	quota.Facts
	quota.Contacts
	quota.Counters
	quota.Staff
}

// Bench is a store under test, the producer that feeds it and the refresher
// that reads it. Their functions end the test when they fail.
type Bench struct {
	Store      Full
	PutTenant  func(tenant roster.Tenant)
	PutStaff   func(tenant string, staff ...roster.Staff)
	PutCode    func(code roster.Code)
	Quarantine func(tenant, staff string, until time.Time) // as a refusal does
	// Facts are those of a code, with all staff that it lists.
	Facts func(ref push.Ref) roster.Facts
	// Now is the store's clock.
	Now func() time.Time
}

// suite is the contract, by what it is about.
var suite = suitetest.Suite[Bench]{
	"facts": {
		"of a tenant":            factsTenant,
		"of a code":              factsCode,
		"of a code by its state": factsState,
	},
	"contact": {
		"is zero when it is new":            contactNew,
		"is kept as written":                contactKept,
		"is replaced by who saw it last":    contactStale,
		"has one first writer":              contactFirst,
		"has one writer a version":          contactRace,
		"is open until its additions are":   contactOpen,
		"is remembered until they are not":  contactDone,
		"of one pair is not one of another": contactApart,
	},
	"count": {
		"counts once":                                     countOnce,
		"tells days, codes and members apart":             countApart,
		"of somebody who is not known is the code's":      countUnknownStaff,
		"made by many at once is one":                     countRace,
		"of many additions at once is all of them":        countRaceOfAdditions,
		"drops days that are long over":                   countPrunes,
		"is refused on no day":                            countNoDay,
		"is forgotten without a change":                   countForgets,
		"may be told to forget what it never counted":     countForgetsNothing,
		"takes any name of a member":                      countNames,
		"begins in the round that the producers are in":   countRound,
		"that half happened is completed by its repeater": countCompletes,
	},
	"mark": {
		"names its winner to everybody":   markOnce,
		"gives way to one of a later day": markLater,
		"made by hand names nobody":       markByHand,
		"is not on somebody unknown":      markUnknown,
		"is won by one of many":           markRace,
	},
	"change": {
		"of somebody unknown":                        changeUnknown,
		"resigns and returns":                        changeResigns,
		"disables and enables":                       changeDisables,
		"does not end the quarantine of a refusal":   changeRefused,
		"enables whoever was refused while disabled": changeRefusedLater,
		"that is older is ignored":                   changeOlder,
		"may be repeated":                            changeRepeated,
		"of a department changes nothing else":       changeDepartment,
		"renames":                                    changeRenames,
		"renames to a name that is known":            changeRenamesToKnown,
	},
}

// TestStore is the contract of what package quota needs of a store. Every
// subtest gets an empty store from the factory, which cleans up after itself.
func TestStore(t *testing.T, factory func(t *testing.T) Bench) {
	suitetest.Run(t, suite, factory)
}

// What most subtests are about.
var (
	code = push.Ref{Tenant: "acme", Code: "code-1"}
	pair = quota.Pair{Tenant: "acme", Staff: "li.na", Customer: "wm-1"}
)

// seed writes a tenant, three staff members and a code that lists them.
func (b Bench) seed() {
	b.PutTenant(roster.Tenant{ID: "acme", TimeZone: "Asia/Shanghai", DailyTotal: 3})
	b.PutStaff("acme", roster.Staff{ID: "li.na", Presence: roster.Online}, roster.Staff{ID: "wang"})
	b.PutCode(roster.Code{
		ID: code.Code, Tenant: "acme", ConfigID: "cfg", Family: roster.Native, State: code.Code,
		Members: []roster.Member{{Staff: "li.na"}, {Staff: "wang"}, {Staff: "lina"}},
	})
}

// instant is the store's now in the milliseconds that a store keeps.
func (b Bench) instant() time.Time { return b.Now().UTC().Truncate(time.Millisecond) }

func (b Bench) today() roster.Day { return roster.DayOf(b.Now(), time.UTC) }

// addition is one of today on the code.
func (b Bench) addition(id string) quota.Addition {
	return quota.Addition{ID: id, Code: code.Code, Day: b.today(), At: b.instant(), Since: b.instant()}
}

func (b Bench) contact(t *testing.T, pair quota.Pair) quota.Contact {
	t.Helper()
	contact, err := b.Store.Contact(t.Context(), pair)
	if err != nil {
		t.Fatalf("Contact(%v): %v", pair, err)
	}
	return contact
}

// put writes a contact and fails unless it can; it returns what is stored then.
func (b Bench) put(t *testing.T, pair quota.Pair, contact quota.Contact) quota.Contact {
	t.Helper()
	if ok, err := b.Store.Put(t.Context(), pair, contact); !ok || err != nil {
		t.Fatalf("Put of version %d = %v, %v; want true", contact.Version, ok, err)
	}
	contact.Version++
	return contact
}

func customer(i int) quota.Pair {
	return quota.Pair{Tenant: "acme", Staff: "li.na", Customer: fmt.Sprint("wm-", i)}
}
