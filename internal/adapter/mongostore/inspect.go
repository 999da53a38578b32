package mongostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/preflight"
)

// Inspector tells preflight about the server.
type Inspector struct{ d *Database }

var _ preflight.Store = Inspector{}

// Inspector returns an Inspector on the same connections.
func (d *Database) Inspector() Inspector { return Inspector{d} }

// Ping asks the primary whether it is there.
func (i Inspector) Ping(ctx context.Context) error { return i.d.Ping(ctx) }

// Server returns what the server says of itself.
func (i Inspector) Server(ctx context.Context) (preflight.StoreServer, error) {
	var hello struct {
		Message string    `bson:"msg"` // "isdbgrid": a router of a sharded cluster
		Set     string    `bson:"setName"`
		Hosts   []string  `bson:"hosts"`
		Passive []string  `bson:"passives"` // hold data and are never primary
		Now     time.Time `bson:"localTime"`
	}
	var build struct {
		Version string `bson:"version"`
	}
	if err := i.d.db.RunCommand(ctx, bson.D{kv("buildInfo", 1)}).Decode(&build); err != nil {
		return preflight.StoreServer{}, fmt.Errorf("ask for MongoDB's version: %w", err)
	}
	begun := time.Now()
	err := i.d.db.RunCommand(ctx, bson.D{kv("hello", 1)}).Decode(&hello)
	if unknown, is := errors.AsType[mongo.CommandError](err); is && unknown.Code == commandNotFound {
		err = i.d.db.RunCommand(ctx, bson.D{kv("isMaster", 1)}).Decode(&hello) // the command's name before 4.4.2
	}
	if err != nil {
		return preflight.StoreServer{}, fmt.Errorf("ask for MongoDB's topology: %w", err)
	}
	trip := time.Since(begun)
	return preflight.StoreServer{
		Version: build.Version, Set: hello.Set, Members: len(hello.Hosts) + len(hello.Passive), Sharded: hello.Message == "isdbgrid",
		Clock: preflight.Reading{Ahead: hello.Now.Sub(begun.Add(trip / 2)), Within: trip/2 + time.Millisecond},
	}, nil
}

// commandNotFound is the server's code for a command that it does not know.
const commandNotFound = 59

// removeLimit bounds the removal of what TryWrite wrote.
const removeLimit = 5 * time.Second

// preflightCollection holds nothing but what TryWrite is about to remove.
const preflightCollection = "preflight"

// TryWrite writes one document as everything is written, and removes it.
func (i Inspector) TryWrite(ctx context.Context) error {
	collection := i.d.db.Collection(preflightCollection)
	id := bson.NewObjectID()
	if _, err := collection.InsertOne(ctx, bson.D{kv("_id", id), kv("at", i.d.now())}); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit) // it is removed whatever became of the look
	defer cancel()
	if _, err := collection.DeleteOne(ctx, bson.D{kv("_id", id)}); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	return nil
}

// MissingIndexes names the indexes that are not there, or have other keys, as
// "collection.name".
func (i Inspector) MissingIndexes(ctx context.Context) ([]string, error) {
	have := map[string]map[string]bson.D{} // keys by name, by collection
	var missing []string
	for _, want := range indexes {
		names, read := have[want.collection]
		if !read {
			var err error
			if names, err = i.indexesOf(ctx, want.collection); err != nil {
				return nil, err
			}
			have[want.collection] = names
		}
		if !sameKeys(names[want.name], want.keys) {
			missing = append(missing, want.collection+"."+want.name)
		}
	}
	slices.Sort(missing)
	return missing, nil
}

func (i Inspector) indexesOf(ctx context.Context, collection string) (map[string]bson.D, error) {
	cursor, err := i.d.db.Collection(collection).Indexes().List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the indexes of %s: %w", collection, err)
	}
	var all []struct {
		Name string `bson:"name"`
		Keys bson.D `bson:"key"`
	}
	if err := cursor.All(ctx, &all); err != nil {
		return nil, fmt.Errorf("list the indexes of %s: %w", collection, err)
	}
	names := map[string]bson.D{}
	for _, one := range all {
		names[one.Name] = one.Keys
	}
	return names, nil
}

// sameKeys compares fields and directions, whatever type the server keeps the
// latter in.
func sameKeys(have, want bson.D) bool {
	return slices.EqualFunc(have, want, func(a, b bson.E) bool {
		return a.Key == b.Key && fmt.Sprint(a.Value) == fmt.Sprint(b.Value)
	})
}

// EnsureIndexes creates the indexes that are missing.
func (i Inspector) EnsureIndexes(ctx context.Context) error { return i.d.EnsureIndexes(ctx) }

// Unopened counts the tenants' secrets.
func (i Inspector) Unopened(ctx context.Context) (all, unopened, inClear int, err error) {
	counts, err := i.d.Secrets().Status(ctx)
	for _, c := range counts {
		for _, n := range c.Sealed {
			all += n
		}
		all += c.Plain
		unopened += c.Unopened
		inClear += c.Plain
	}
	return all, unopened, inClear, err
}
