package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/seal"
)

// Database is a connection to the documents. It is safe for use by several
// goroutines.
type Database struct {
	client *mongo.Client
	db     *mongo.Database
	keys   *seal.Keyring
	now    func() time.Time
}

// Open prepares the connections. It does not wait for a server: a process may
// start while MongoDB is away. Call Ping to find out.
func Open(opts Options) (*Database, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	clientOptions, err := opts.client()
	if err != nil {
		return nil, err
	}
	client, err := mongo.Connect(clientOptions)
	if err != nil {
		return nil, fmt.Errorf("connect to MongoDB: %w", err)
	}
	return &Database{client: client, db: client.Database(opts.Database), keys: opts.Keys, now: opts.Now}, nil
}

// Ping asks the primary whether it is there.
func (d *Database) Ping(ctx context.Context) error {
	if err := d.client.Ping(ctx, nil); err != nil {
		return fmt.Errorf("ping MongoDB: %w", err)
	}
	return nil
}

// Close waits for the operations under way, as long as ctx allows, and closes
// the connections.
func (d *Database) Close(ctx context.Context) error {
	if err := d.client.Disconnect(ctx); err != nil {
		return fmt.Errorf("close MongoDB: %w", err)
	}
	return nil
}

// Store returns the push protocol's view: facts to read and records to keep.
func (d *Database) Store() *Store {
	return &Store{
		tenants:  d.db.Collection(tenantsCollection),
		staff:    d.db.Collection(staffCollection),
		codes:    d.db.Collection(codesCollection),
		counters: d.db.Collection(countersCollection),
		records:  d.db.Collection(recordsCollection),
		now:      d.now,
	}
}

// Dirty returns the set of codes that could not be finished.
func (d *Database) Dirty() *Dirty {
	return &Dirty{entries: d.db.Collection(dirtyCollection), now: d.now}
}

// Facts returns the producers' view: the writer of facts.
func (d *Database) Facts() *Facts {
	return &Facts{
		tenants:     d.db.Collection(tenantsCollection),
		staff:       d.db.Collection(staffCollection),
		codes:       d.db.Collection(codesCollection),
		counters:    d.db.Collection(countersCollection),
		credentials: d.db.Collection(credentialsCollection),
		keys:        d.keys,
		now:         d.now,
	}
}

// The collections. Producers write the first four and the credentials; the
// records and the dirty set are Rollcall's own.
const (
	tenantsCollection     = "tenants"
	staffCollection       = "staff"
	codesCollection       = "codes"
	countersCollection    = "counters"
	credentialsCollection = "credentials"
	recordsCollection     = "records"
	dirtyCollection       = "dirty"
)

// kv is one field of a filter, an update or a projection.
func kv(key string, value any) bson.E { return bson.E{Key: key, Value: value} }

// byID is the filter of one document.
func byID(id string) bson.D { return bson.D{kv("_id", id)} }
