//go:build integration

package mongostore_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// world is a database of its own, with the driver beside it for what the
// package under test does not write.
type world struct {
	*mongostore.Database
	raw      *mongo.Database
	commands *commands
}

// newWorld opens a database with a random name and drops it at the end.
func newWorld(t testing.TB, now func() time.Time) *world {
	t.Helper()
	return newSealedWorld(t, now, keyring(t, "a"))
}

// newSealedWorld is newWorld with keys of one's own.
func newSealedWorld(t testing.TB, now func() time.Time, keys *seal.Keyring) *world {
	t.Helper()
	uri := stacktest.MongoURI(t)
	name := "rollcall_test_" + bson.NewObjectID().Hex()
	w := &world{commands: &commands{}}
	var err error
	w.Database, err = mongostore.Open(mongostore.Options{
		URI: uri, Database: name, Timeout: 20 * time.Second, Now: now, Keys: keys, Monitor: w.commands.monitor(),
	})
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	w.raw = client.Database(name)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := w.raw.Drop(ctx); err != nil {
			t.Errorf("drop %s: %v", name, err)
		}
		if err := client.Disconnect(ctx); err != nil {
			t.Errorf("disconnect: %v", err)
		}
		if err := w.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return w
}

// storeBench feeds the store the way a producer does.
func storeBench(t *testing.T) pushtest.StoreBench {
	w := newWorld(t, time.Now)
	facts := w.Facts()
	must := func(err error) {
		if err != nil {
			t.Errorf("producer: %v", err)
		}
	}
	return pushtest.StoreBench{
		Store:     w.Store(),
		PutTenant: func(tenant roster.Tenant) { must(facts.PutTenant(t.Context(), tenant)) },
		PutStaff: func(tenant string, staff ...roster.Staff) {
			must(facts.PutStaff(t.Context(), tenant, staff...))
		},
		PutCode: func(code roster.Code) { must(facts.PutCodes(t.Context(), code)) },
		CountAddition: func(ref push.Ref, staff string, day roster.Day) {
			must(facts.CountAddition(t.Context(), mongostore.Addition{Ref: ref, Staff: staff, Day: day}))
		},
		Now: time.Now,
	}
}

// commands notes the commands that a client sends, and the batch size of the
// last find of staff.
type commands struct {
	mu         sync.Mutex
	seen       []string
	staffBatch int
}

func (c *commands) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = append(c.seen, e.CommandName)
		if from, ok := e.Command.Lookup("find").StringValueOK(); ok && from == "staff" {
			size, _ := e.Command.Lookup("batchSize").AsInt64OK()
			c.staffBatch = int(size)
		}
	}}
}

// during returns the names of the commands that run sends, in order.
func (c *commands) during(run func()) []string {
	c.mu.Lock()
	c.seen = nil
	c.mu.Unlock()
	run()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// dirtySet shows the adapter's entries as the suite's.
type dirtySet struct{ *mongostore.Dirty }

func (d dirtySet) Get(ctx context.Context, ref push.Ref) (pushtest.Entry, bool, error) {
	e, found, err := d.Dirty.Get(ctx, ref)
	return pushtest.Entry(e), found, err
}

func (d dirtySet) List(ctx context.Context, after push.Ref, limit int) ([]pushtest.Entry, error) {
	entries, err := d.Dirty.List(ctx, after, limit)
	return converted(entries), err
}

func (d dirtySet) Remove(ctx context.Context, entries ...pushtest.Entry) (int, error) {
	seen := make([]mongostore.Seen, len(entries))
	for i, e := range entries {
		seen[i] = mongostore.Seen{Ref: e.Ref, Version: e.Version}
	}
	return d.Dirty.Remove(ctx, seen...)
}

func (d dirtySet) DueOf(ctx context.Context, state push.DirtyState, tenant string, now time.Time, limit int) ([]pushtest.Entry, error) {
	entries, err := d.Dirty.DueOf(ctx, state, tenant, now, limit)
	return converted(entries), err
}

func (d dirtySet) Unconfirmed(ctx context.Context, now time.Time, limit int) ([]pushtest.Entry, error) {
	entries, err := d.Dirty.Unconfirmed(ctx, now, limit)
	return converted(entries), err
}

func (d dirtySet) Release(ctx context.Context, entries ...pushtest.Entry) (int, error) {
	return d.Dirty.Release(ctx, seenAt(entries, func(e pushtest.Entry) time.Time { return e.Confirm })...)
}

func (d dirtySet) Defer(ctx context.Context, entries ...pushtest.Entry) (int, error) {
	return d.Dirty.Defer(ctx, seenAt(entries, func(e pushtest.Entry) time.Time { return e.Confirm })...)
}

func (d dirtySet) Repeat(ctx context.Context, entries ...pushtest.Entry) (int, error) {
	return d.Dirty.Repeat(ctx, seenAt(entries, func(e pushtest.Entry) time.Time { return e.Due })...)
}

func seenAt(entries []pushtest.Entry, at func(pushtest.Entry) time.Time) []mongostore.Seen {
	seen := make([]mongostore.Seen, len(entries))
	for i, e := range entries {
		seen[i] = mongostore.Seen{Ref: e.Ref, Version: e.Version, At: at(e)}
	}
	return seen
}

func converted(entries []mongostore.DirtyEntry) []pushtest.Entry {
	out := make([]pushtest.Entry, 0, len(entries))
	for _, e := range entries {
		out = append(out, pushtest.Entry(e))
	}
	return out
}
