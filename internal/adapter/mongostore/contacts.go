package mongostore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// contactsCollection is Rollcall's own.
const contactsCollection = "contacts"

// ContactsKept is how long a contact of which nothing more is heard is kept. An
// event that is repeated later than that would be counted again.
const ContactsKept = 180 * 24 * time.Hour

// Quota is what package quota needs of MongoDB: its Facts, Contacts, Counters
// and Staff.
type Quota struct {
	tenants  *mongo.Collection
	staff    *mongo.Collection
	codes    *mongo.Collection
	counters *mongo.Collection
	contacts *mongo.Collection
	now      func() time.Time
}

var (
	_ quota.Facts    = (*Quota)(nil)
	_ quota.Contacts = (*Quota)(nil)
	_ quota.Counters = (*Quota)(nil)
	_ quota.Staff    = (*Quota)(nil)
)

// Quota returns the view of who counts additions.
func (d *Database) Quota() *Quota {
	return &Quota{
		tenants:  d.db.Collection(tenantsCollection),
		staff:    d.db.Collection(staffCollection),
		codes:    d.db.Collection(codesCollection),
		counters: d.db.Collection(countersCollection),
		contacts: d.db.Collection(contactsCollection),
		now:      d.now,
	}
}

// Tenant reads a tenant.
func (q *Quota) Tenant(ctx context.Context, tenant string) (roster.Tenant, error) {
	doc, found, err := findOne[tenantDoc](ctx, q.tenants, tenant, fields(tenantFields))
	if err == nil && !found {
		err = fmt.Errorf("tenant %s: %w", tenant, quota.ErrUnknownTenant)
	}
	return doc.tenant(), err
}

// Code reads a code of a tenant.
func (q *Quota) Code(ctx context.Context, ref push.Ref) (roster.Code, error) {
	doc, found, err := findOne[codeDoc](ctx, q.codes, ref.Code, fields(codeFields))
	if err != nil || !found || doc.Tenant != ref.Tenant {
		return roster.Code{}, err
	}
	return doc.code(), nil
}

// CodeWith finds the code of a state. Most codes have their own ID for a state,
// and are found by it; for others there is an index. Of several with one state
// the one with the least ID is meant.
func (q *Quota) CodeWith(ctx context.Context, tenant, state string) (roster.Code, bool, error) {
	code, err := q.Code(ctx, push.Ref{Tenant: tenant, Code: state})
	if err != nil || (code.ID != "" && code.State == state) {
		return code, err == nil, err
	}
	var doc codeDoc
	err = q.codes.FindOne(ctx, bson.D{kv("tenant", tenant), kv("state", state)},
		options.FindOne().SetProjection(fields(codeFields)).SetSort(bson.D{kv("_id", 1)})).Decode(&doc)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return roster.Code{}, false, nil
	case err != nil:
		return roster.Code{}, false, fmt.Errorf("find a code of tenant %s by its state: %w", tenant, err)
	}
	return doc.code(), true, nil
}

// contactDoc is a document of the collection contacts. OpenSince and DoneSince
// are the least of its additions' instants, for the sweeps; without additions
// there is neither, and the sparse indexes do not hold the document.
type contactDoc struct {
	ID        string        `bson:"_id"` // tenant/staff/customer
	Tenant    string        `bson:"tenant"`
	Staff     string        `bson:"staff"`
	Customer  string        `bson:"customer"`
	Version   int64         `bson:"version"`
	Entries   []entryDoc    `bson:"entries"`
	Additions []additionDoc `bson:"additions,omitempty"`
	OpenSince time.Time     `bson:"open_since,omitempty"`
	DoneSince time.Time     `bson:"done_since,omitempty"`
	At        time.Time     `bson:"at"` // of the last write
}

type entryDoc struct {
	Change  string    `bson:"change"`
	At      time.Time `bson:"at"`
	State   string    `bson:"state,omitempty"`
	Code    string    `bson:"code,omitempty"`
	Counted bool      `bson:"counted,omitempty"`
}

type additionDoc struct {
	ID    string    `bson:"id"`
	Code  string    `bson:"code"`
	Day   string    `bson:"day"`
	At    time.Time `bson:"at"`
	Since time.Time `bson:"since"`
	Done  time.Time `bson:"done,omitempty"`
}

// pairID is unique: a customer's ID holds no slash, and neither does a
// tenant's.
func pairID(pair quota.Pair) string { return scoped(scoped(pair.Tenant, pair.Staff), pair.Customer) }

// Contact reads a contact.
func (q *Quota) Contact(ctx context.Context, pair quota.Pair) (quota.Contact, error) {
	doc, _, err := findOne[contactDoc](ctx, q.contacts, pairID(pair), nil)
	return doc.contact(), err
}

// Put replaces a contact of the version that it was read with.
func (q *Quota) Put(ctx context.Context, pair quota.Pair, contact quota.Contact) (bool, error) {
	doc := contactDocOf(pair, contact)
	doc.Version, doc.At = contact.Version+1, q.now()
	stored, err := q.put(ctx, doc, contact.Version)
	if err != nil {
		return false, fmt.Errorf("write a contact of tenant %s: %w", pair.Tenant, err)
	}
	return stored, nil
}

func (q *Quota) put(ctx context.Context, doc contactDoc, seen int64) (bool, error) {
	if seen == 0 {
		_, err := q.contacts.InsertOne(ctx, doc)
		if mongo.IsDuplicateKeyError(err) {
			return false, nil
		}
		return err == nil, err
	}
	result, err := q.contacts.ReplaceOne(ctx, bson.D{kv("_id", doc.ID), kv("version", seen)}, doc)
	if err != nil {
		return false, err
	}
	return result.MatchedCount > 0, nil
}

// Open lists contacts with an addition that is not done.
func (q *Quota) Open(ctx context.Context, before time.Time, limit int) ([]quota.Known, error) {
	return q.knownBefore(ctx, "open_since", before, limit)
}

// Done lists contacts with an addition that is done.
func (q *Quota) Done(ctx context.Context, before time.Time, limit int) ([]quota.Known, error) {
	return q.knownBefore(ctx, "done_since", before, limit)
}

func (q *Quota) knownBefore(ctx context.Context, field string, before time.Time, limit int) ([]quota.Known, error) {
	docs, err := findAll[contactDoc](ctx, q.contacts, bson.D{kv(field, bson.D{kv("$lt", before)})},
		page(limit).SetSort(bson.D{kv(field, 1)}))
	if err != nil {
		return nil, err
	}
	known := make([]quota.Known, 0, len(docs))
	for _, doc := range docs {
		known = append(known, quota.Known{
			Pair:    quota.Pair{Tenant: doc.Tenant, Staff: doc.Staff, Customer: doc.Customer},
			Contact: doc.contact(),
		})
	}
	return known, nil
}

func (d contactDoc) contact() quota.Contact {
	c := quota.Contact{Version: d.Version}
	for _, e := range d.Entries {
		c.Entries = append(c.Entries, quota.Entry{
			Change: quota.Change(e.Change), At: utc(e.At), State: e.State, Code: e.Code, Counted: e.Counted,
		})
	}
	for _, a := range d.Additions {
		c.Additions = append(c.Additions, quota.Addition{
			ID: a.ID, Code: a.Code, Day: roster.Day(a.Day), At: utc(a.At), Since: utc(a.Since), Done: utc(a.Done),
		})
	}
	return c
}

func contactDocOf(pair quota.Pair, c quota.Contact) contactDoc {
	d := contactDoc{ID: pairID(pair), Tenant: pair.Tenant, Staff: pair.Staff, Customer: pair.Customer}
	for _, e := range c.Entries {
		d.Entries = append(d.Entries, entryDoc{
			Change: string(e.Change), At: e.At, State: e.State, Code: e.Code, Counted: e.Counted,
		})
	}
	for _, a := range c.Additions {
		d.Additions = append(d.Additions, additionDoc{
			ID: a.ID, Code: a.Code, Day: string(a.Day), At: a.At, Since: a.Since, Done: a.Done,
		})
		if a.Done.IsZero() {
			d.OpenSince = earliest(d.OpenSince, a.Since)
		} else {
			d.DoneSince = earliest(d.DoneSince, a.Done)
		}
	}
	return d
}

// earliest is the earlier of two instants, of which the first may be missing.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
