//go:build integration

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

// The codes of a restore, by what happens to them between the backup and the
// restore.
const (
	leaves    = 0  // their own member goes off line, and the list is pushed
	comesBack = 4  // he goes and comes back: the list of the backup again
	untouched = 8  // nothing
	made      = 10 // they are made after the backup: it has no record of them
	restored  = 12
)

// An older copy of the records beside today's facts: each record that is behind
// is found by the audit alone, and costs one push of what WeCom has.
func TestOlderRecordsBesideTodaysFactsAreMended(t *testing.T) {
	b := newBackup(t)
	stop := b.start("refresher", refresher)
	b.first()
	older := b.copyOf("records")
	b.live()
	want := b.lists()
	stop()

	b.restore(older)
	pushed := b.calls("update_contact_way")
	b.h.cfg.Spot.Share = 0
	b.start("refresher again", refresher)
	b.start("keeper", keeper)
	b.pass()
	b.h.wantNothingDirty()
	eventually(t, 30*time.Second, "every record says what WeCom holds", b.recordsAgree)
	if got := b.lists(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("lists at WeCom are %v, want %v", got, want)
	}
	// A record is behind of the codes whose member left and of those that were made
	// since; of the others it says what the facts ask for.
	if got := b.calls("update_contact_way") - pushed; got != comesBack+restored-made {
		t.Errorf("%d pushes, want one for each record that was behind: %d", got, comesBack+restored-made)
	}
}

// Facts and records of the same older instant agree with each other, so the audit
// has nothing to say: that WeCom holds something newer is seen by asking it.
func TestARestoredDatabaseIsCarriedToWeComByTheSpotCheck(t *testing.T) {
	b := newBackup(t)
	stop := b.start("refresher", refresher)
	b.first()
	older, want := b.copyOf("records", "staff", "codes", "tenants"), b.lists()
	b.live()
	newer := b.lists()
	stop()

	b.restore(older)
	// One pass and no second: a keeper that stops within one leaves a chunk behind
	// that is taken over minutes later.
	b.h.cfg.Spot.Share, b.h.cfg.Audit.Every = 0, time.Hour
	b.start("refresher again", refresher)
	stop = b.start("keeper without a spot check", keeper)
	b.pass()
	b.h.wantNothingDirty()
	if got := b.lists(); !slices.EqualFunc(got, newer, slices.Equal) {
		t.Fatalf("without the spot check lists are %v, want them as they were before the restore: %v", got, newer)
	}
	b.wantWholeSets()
	stop()
	b.h.cfg.Spot.Share, b.h.cfg.Audit.Every = 1, auditEvery
	b.start("keeper with a spot check", keeper)
	defer b.tell()
	eventually(t, 60*time.Second, "WeCom holds what the restored facts ask for", func() bool {
		return slices.EqualFunc(b.lists()[:made], want[:made], slices.Equal)
	})
	eventually(t, 30*time.Second, "every record says what WeCom holds", b.recordsAgree)
	b.h.wantNothingDirty()
}

// backup is a house whose database is put back to an earlier state.
type backup struct {
	*testing.T
	h  *house
	db *mongo.Database
}

func newBackup(t *testing.T) *backup {
	t.Helper()
	h := newHouse(t, wecomsim.Options{})
	h.watchful()
	client, err := mongo.Connect(options.Client().ApplyURI(h.cfg.MongoDB.URI.Reveal()))
	h.must(err)
	t.Cleanup(func() { _ = client.Disconnect(context.WithoutCancel(t.Context())) })
	h.tenant("acme", "ann")
	return &backup{T: t, h: h, db: client.Database(h.cfg.MongoDB.Database)}
}

// role is one of service's, without what a test may put in between.
type role func(context.Context, config.Config) error

func refresher(ctx context.Context, cfg config.Config) error {
	return service.RunRefresher(ctx, cfg, "test")
}

func keeper(ctx context.Context, cfg config.Config) error { return service.RunKeeper(ctx, cfg, "test") }

// start runs a role, as it is configured now, until stop is called or the test
// ends.
func (b *backup) start(name string, run role) (stop func()) {
	ctx, end := context.WithCancel(context.WithoutCancel(b.Context()))
	ended := make(chan error, 1)
	cfg := b.h.cfg
	go func() { ended <- run(ctx, cfg) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		end()
		if err := <-ended; err != nil {
			b.Errorf("%s: %v", name, err)
		}
	}
	b.Cleanup(stop)
	return stop
}

// first makes the codes that the backup knows and waits for their lists.
func (b *backup) first() {
	for i := range made {
		b.make(i)
	}
	b.wait(made)
}

// make stores a code of ann and a member of its own; every other one rotates.
func (b *backup) make(i int) {
	own := fmt.Sprint("own-", i)
	b.h.must(b.h.db.Facts().PutStaff(b.Context(), "acme", roster.Staff{ID: own, Presence: roster.Online}))
	family := roster.Native
	if i%2 == 1 {
		family = roster.Sequenced
	}
	b.h.code(roster.Code{ID: fmt.Sprint("c", i), Tenant: "acme", Family: family, Switches: roster.Switches{OfflineCheck: true}}, "ann", own)
	b.h.publish("acme", fmt.Sprint("c", i))
}

// live is what happens after the backup.
func (b *backup) live() {
	for i := range untouched {
		b.presence(i, roster.OfflineNow)
	}
	b.settled("those who left are off their lists", func() bool {
		return !slices.ContainsFunc(b.lists()[:untouched], func(l []string) bool { return len(l) != 1 })
	})
	for i := comesBack; i < untouched; i++ {
		b.presence(i, roster.Online)
	}
	for i := made; i < restored; i++ {
		b.make(i)
	}
	b.wait(restored - comesBack) // the others have one member left
}

func (b *backup) presence(i int, p roster.Presence) {
	b.h.must(b.h.db.Facts().SetPresence(b.Context(), "acme", fmt.Sprint("own-", i), p))
	b.h.publish("acme", fmt.Sprint("c", i))
}

// wait waits until so many codes list two people.
func (b *backup) wait(pairs int) {
	b.settled(fmt.Sprint(pairs, " codes list two people"), func() bool {
		n := 0
		for _, l := range b.lists() {
			if len(l) == 2 {
				n++
			}
		}
		return n == pairs
	})
}

func (b *backup) settled(what string, ok func() bool) {
	b.Helper()
	eventually(b.T, 30*time.Second, what, func() bool { return ok() && b.h.backlog() == 0 })
}

// lists are what WeCom holds.
func (b *backup) lists() [][]string {
	lists := make([][]string, restored)
	for i := range lists {
		lists[i] = b.h.listed("acme", fmt.Sprint("c", i))
	}
	return lists
}

func (b *backup) calls(api string) int { return b.h.calls(api) }

// recordsAgree reports that each record's list is what WeCom holds, with no call
// of unknown outcome.
func (b *backup) recordsAgree() bool {
	for i, list := range b.lists() {
		r := b.h.record(fmt.Sprint("c", i))
		known := b.known(i)
		if known && (!slices.Equal(slices.Sorted(slices.Values(r.Committed.Members)), list) || r.Committed.Epoch != r.Epoch || len(r.Intents) > 0) {
			return false
		}
	}
	return true
}

// wantWholeSets checks that both members of each code that rotates are drawn from
// again: Redis was not restored, and the audit compares it with the facts.
func (b *backup) wantWholeSets() {
	b.Helper()
	for i := 1; i < made; i += 2 {
		seats, err := b.h.rotation().Seats(b.Context(), push.Ref{Tenant: "acme", Code: fmt.Sprint("c", i)})
		b.h.must(err)
		if len(seats) != 2 {
			b.Errorf("the rotation set of c%d has %d seats, the facts ask for 2", i, len(seats))
		}
	}
}

// tell says how things stand, for whoever reads a failure.
func (b *backup) tell() {
	if !b.Failed() {
		return
	}
	for i, list := range b.lists() {
		ref := push.Ref{Tenant: "acme", Code: fmt.Sprint("c", i)}
		entry, dirty := b.h.dirty(ref.Tenant, ref.Code)
		difference, differs, err := b.h.db.Spots().Get(context.WithoutCancel(b.Context()), ref)
		b.Logf("%s: WeCom %v, record %+v, dirty %v %+v, difference %v %+v %v", ref.Code, list, b.h.record(ref.Code), dirty, entry, differs, difference, err)
	}
	pass, err := b.h.db.Passes().Get(context.WithoutCancel(b.Context()))
	b.Logf("pass %+v %v; get_contact_way %d", pass, err, b.calls("get_contact_way"))
}

// known reports whether the database has the code.
func (b *backup) known(i int) bool {
	_, _, err := b.h.db.Store().Load(b.Context(), push.Ref{Tenant: "acme", Code: fmt.Sprint("c", i)})
	return err == nil
}

// pass waits for the first whole pass of the audit. No keeper runs before the
// restore, so it began after it.
func (b *backup) pass() {
	b.Helper()
	eventually(b.T, 60*time.Second, "a whole pass of the audit", func() bool {
		now, err := b.h.db.Passes().Get(b.Context())
		b.h.must(err)
		return now.Last.Number > 0
	})
}

// copyOf is what some collections hold.
func (b *backup) copyOf(collections ...string) map[string][]bson.Raw {
	copies := map[string][]bson.Raw{}
	for _, name := range collections {
		cursor, err := b.db.Collection(name).Find(b.Context(), bson.D{})
		b.h.must(err)
		var docs []bson.Raw
		b.h.must(cursor.All(b.Context(), &docs))
		copies[name] = docs
	}
	return copies
}

// restore puts collections back to what they held.
func (b *backup) restore(copies map[string][]bson.Raw) {
	for name, docs := range copies {
		_, err := b.db.Collection(name).DeleteMany(b.Context(), bson.D{})
		b.h.must(err)
		_, err = b.db.Collection(name).InsertMany(b.Context(), docs)
		b.h.must(err)
	}
}
