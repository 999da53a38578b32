package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// waysCollection is Rollcall's own: a document for each contact way that is
// being made, and for each that was made for one staff member.
const waysCollection = "ways"

// Ways is contactway.Rows and contactway.Codes on MongoDB.
type Ways struct {
	*Store
	ways *mongo.Collection
}

var (
	_ contactway.Rows  = (*Ways)(nil)
	_ contactway.Codes = (*Ways)(nil)
)

// Ways returns the store of contact ways.
func (d *Database) Ways() *Ways {
	return &Ways{Store: d.Store(), ways: d.db.Collection(waysCollection)}
}

// wayDoc is a document of the collection ways. Due is NotBefore while a step is
// to be taken by itself; indexes hold no others.
type wayDoc struct {
	ID         string           `bson:"_id"`
	Tenant     string           `bson:"tenant"`
	Code       string           `bson:"code"`
	Staff      string           `bson:"staff,omitempty"`
	Variant    string           `bson:"variant,omitempty"`
	Version    int64            `bson:"version"`
	Phase      contactway.Phase `bson:"phase"`
	Marker     string           `bson:"marker"`
	Owner      string           `bson:"owner"`
	NotBefore  time.Time        `bson:"not_before"`
	Due        time.Time        `bson:"due,omitempty"`
	WindowFrom time.Time        `bson:"window_from,omitempty"`
	WindowTo   time.Time        `bson:"window_to,omitempty"`
	ConfigID   string           `bson:"config_id,omitempty"`
	QRCode     string           `bson:"qr_code,omitempty"`
	Spare      []string         `bson:"spare,omitempty"`
	Failures   int              `bson:"failures,omitempty"`
	Why        reason.Reason    `bson:"why,omitempty"`
	Detail     string           `bson:"detail,omitempty"`
	At         time.Time        `bson:"at"` // of the last write, for a person
}

func (w *Ways) docOf(row contactway.Row) wayDoc {
	doc := wayDoc{
		ID: wayID(row.Key), Tenant: row.Tenant, Code: row.Code, Staff: row.Staff, Variant: row.Variant,
		Version: row.Version, Phase: row.Phase, Marker: row.Marker, Owner: row.Owner, NotBefore: row.NotBefore,
		WindowFrom: row.Window.From, WindowTo: row.Window.To,
		ConfigID: row.ConfigID, QRCode: row.QRCode, Spare: row.Spare,
		Failures: row.Failures, Why: row.Why, Detail: row.Detail, At: w.now(),
	}
	if !row.Settled() {
		doc.Due = row.NotBefore
	}
	return doc
}

func (d wayDoc) row() contactway.Row {
	return contactway.Row{
		Key: contactway.Key{
			Ref: push.Ref{Tenant: d.Tenant, Code: d.Code}, Staff: d.Staff, Variant: d.Variant,
		},
		Version: d.Version, Phase: d.Phase, Marker: d.Marker, Owner: d.Owner, NotBefore: utc(d.NotBefore),
		Window:   contactway.Window{From: utc(d.WindowFrom), To: utc(d.WindowTo)},
		ConfigID: d.ConfigID, QRCode: d.QRCode, Spare: d.Spare,
		Failures: d.Failures, Why: d.Why, Detail: d.Detail,
	}
}

// wayID is "tenant/code" for a code's own and "tenant/code/variant/staff" for a
// member's: only a staff ID may hold a slash.
func wayID(key contactway.Key) string {
	if !key.OfMember() {
		return refID(key.Ref)
	}
	return refID(key.Ref) + "/" + key.Variant + "/" + key.Staff
}

// Get returns a row.
func (w *Ways) Get(ctx context.Context, key contactway.Key) (contactway.Row, bool, error) {
	doc, found, err := findOne[wayDoc](ctx, w.ways, wayID(key), nil)
	if err != nil || !found {
		return contactway.Row{}, false, err
	}
	return doc.row(), true, nil
}

// Insert stores a row as version 1 if there is none of its key.
func (w *Ways) Insert(ctx context.Context, row contactway.Row) (bool, error) {
	row.Version = 1
	_, err := w.ways.InsertOne(ctx, w.docOf(row))
	if mongo.IsDuplicateKeyError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("insert the contact way of %s: %w", wayID(row.Key), err)
	}
	return true, nil
}

// Replace stores a row whose stored version and marker are still row's.
func (w *Ways) Replace(ctx context.Context, row contactway.Row) (bool, error) {
	seen := seenWay(row)
	row.Version++
	result, err := w.ways.ReplaceOne(ctx, seen, w.docOf(row))
	if err != nil {
		return false, fmt.Errorf("replace the contact way of %s: %w", wayID(row.Key), err)
	}
	return result.MatchedCount > 0, nil
}

// Remove deletes a row whose stored version and marker are still row's.
func (w *Ways) Remove(ctx context.Context, row contactway.Row) (bool, error) {
	result, err := w.ways.DeleteOne(ctx, seenWay(row))
	if err != nil {
		return false, fmt.Errorf("remove the contact way of %s: %w", wayID(row.Key), err)
	}
	return result.DeletedCount > 0, nil
}

func seenWay(row contactway.Row) bson.D {
	return bson.D{kv("_id", wayID(row.Key)), kv("version", row.Version), kv("marker", row.Marker)}
}

// DueTenants returns the tenants with rows that are due.
func (w *Ways) DueTenants(ctx context.Context, now time.Time) ([]string, error) {
	var tenants []string
	if err := w.ways.Distinct(ctx, "tenant", bson.D{dueAt(now)}).Decode(&tenants); err != nil {
		return nil, fmt.Errorf("list the tenants with contact ways to make: %w", err)
	}
	return tenants, nil
}

// Due returns a tenant's rows that are due, the longest due first.
func (w *Ways) Due(ctx context.Context, tenant string, now time.Time, limit int) ([]contactway.Row, error) {
	docs, err := findAll[wayDoc](ctx, w.ways, bson.D{kv("tenant", tenant), dueAt(now)},
		page(limit).SetSort(bson.D{kv("due", 1), kv("_id", 1)}))
	rows := make([]contactway.Row, 0, len(docs))
	for _, doc := range docs {
		rows = append(rows, doc.row())
	}
	return rows, err
}
