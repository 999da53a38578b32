package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/backstop/lease"
)

// leasesCollection is Rollcall's own.
const leasesCollection = "leases"

// Leases is lease.Store on MongoDB: a document a role.
type Leases struct {
	leases *mongo.Collection
	now    func() time.Time
}

var _ lease.Store = (*Leases)(nil)

// Leases returns the store of leases.
func (d *Database) Leases() *Leases {
	return &Leases{leases: d.db.Collection(leasesCollection), now: d.now}
}

// leaseDoc is a document of the collection leases. At is the holder's clock at
// its last write and for a person only: nothing is decided by it.
type leaseDoc struct {
	Role     string    `bson:"_id"`
	Token    int64     `bson:"token"`
	Renewals int64     `bson:"renewals"`
	Holder   string    `bson:"holder"`
	TTL      int64     `bson:"ttl_ms"`
	At       time.Time `bson:"at"`
}

// Read returns the lease of a role.
func (l *Leases) Read(ctx context.Context, role string) (lease.State, error) {
	doc, _, err := findOne[leaseDoc](ctx, l.leases, role, nil)
	if err != nil {
		return lease.State{}, err
	}
	return lease.State{
		Token: doc.Token, Renewals: doc.Renewals, Holder: doc.Holder,
		TTL: time.Duration(doc.TTL) * time.Millisecond,
	}, nil
}

// Take replaces a lease whose token and renewals are still those seen. The
// first one is inserted, so that of two candidates one fails.
func (l *Leases) Take(ctx context.Context, role string, seen, next lease.State) (bool, error) {
	took, err := l.take(ctx, role, seen, next)
	if err != nil {
		return false, fmt.Errorf("take lease %s: %w", role, err)
	}
	return took, nil
}

func (l *Leases) take(ctx context.Context, role string, seen, next lease.State) (bool, error) {
	doc := leaseDoc{
		Role: role, Token: next.Token, Renewals: next.Renewals, Holder: next.Holder,
		TTL: next.TTL.Milliseconds(), At: l.now(),
	}
	if seen.Token == 0 {
		_, err := l.leases.InsertOne(ctx, doc)
		if mongo.IsDuplicateKeyError(err) {
			return false, nil
		}
		return err == nil, err
	}
	filter := append(heldUnder(role, seen.Token), kv("renewals", seen.Renewals))
	return updateIf(ctx, l.leases, filter, bson.D{kv("$set", bson.D{
		kv("token", doc.Token), kv("renewals", doc.Renewals), kv("holder", doc.Holder),
		kv("ttl_ms", doc.TTL), kv("at", doc.At),
	})})
}

// Renew counts a renewal of a lease whose token is still the one named.
func (l *Leases) Renew(ctx context.Context, role string, token int64) (bool, error) {
	filter := append(heldUnder(role, token), kv("holder", bson.D{kv("$ne", "")}))
	renewed, err := updateIf(ctx, l.leases, filter, bson.D{
		kv("$inc", bson.D{kv("renewals", 1)}),
		kv("$set", bson.D{kv("at", l.now())}),
	})
	if err != nil {
		return false, fmt.Errorf("renew lease %s: %w", role, err)
	}
	return renewed, nil
}

// Release frees a lease whose token is still the one named.
func (l *Leases) Release(ctx context.Context, role string, token int64) error {
	_, err := updateIf(ctx, l.leases, heldUnder(role, token), bson.D{
		kv("$set", bson.D{kv("holder", ""), kv("at", l.now())}),
	})
	if err != nil {
		return fmt.Errorf("release lease %s: %w", role, err)
	}
	return nil
}

func heldUnder(role string, token int64) bson.D {
	return bson.D{kv("_id", role), kv("token", token)}
}
