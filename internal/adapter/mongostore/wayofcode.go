package mongostore

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// codeWayDoc is what a code says of its contact way.
type codeWayDoc struct {
	ID       string `bson:"_id"`
	Tenant   string `bson:"tenant"`
	ConfigID string `bson:"config_id"`
	QRCode   string `bson:"qr_code"`
}

var codeWayFields = fields([]string{"tenant", "config_id", "qr_code"})

// Held returns the contact way that a code has.
func (w *Ways) Held(ctx context.Context, ref push.Ref) (contactway.Held, error) {
	doc, found, err := findOne[codeWayDoc](ctx, w.codes, ref.Code, codeWayFields)
	if err == nil && (!found || doc.Tenant != ref.Tenant) {
		err = fmt.Errorf("code %s: %w", ref.Code, push.ErrUnknownCode)
	}
	if err != nil {
		return contactway.Held{}, err
	}
	return contactway.Held{ConfigID: doc.ConfigID, QRCode: doc.QRCode}, nil
}

// Give stores a contact way into a code that has none and is not deleted. The
// revision stays: whom the code lists is as it was. What the record says was
// pushed was pushed to another contact way, if the code had one before, so it
// is forgotten and the next event pushes.
func (w *Ways) Give(ctx context.Context, ref push.Ref, way contactway.Way) (bool, error) {
	given, err := w.give(ctx, ref, way)
	if err == nil && given {
		_, err = updateIf(ctx, w.records, byID(refID(ref)), bson.D{kv("$unset", bson.D{kv("committed", "")})})
	}
	if err != nil {
		return false, fmt.Errorf("give code %s its contact way: %w", ref.Code, err)
	}
	return given, nil
}

func (w *Ways) give(ctx context.Context, ref push.Ref, way contactway.Way) (bool, error) {
	set := bson.D{kv("config_id", way.ConfigID), kv("qr_code", way.QRCode)}
	alive := kv("deleted", bson.D{kv("$ne", true)})
	if way.State != "" {
		withState := bson.D{kv("config_id", way.ConfigID), kv("qr_code", way.QRCode), kv("state", way.State)}
		given, err := w.setIf(ctx, ref, withState, kv("config_id", none()), alive, kv("state", none()))
		if given || err != nil {
			return given, err
		}
	}
	given, err := w.setIf(ctx, ref, set, kv("config_id", none()), alive)
	if given || err != nil {
		return given, err
	}
	return w.setIf(ctx, ref, set, kv("config_id", way.ConfigID))
}

// setIf sets fields of a code for which the conditions hold.
func (w *Ways) setIf(ctx context.Context, ref push.Ref, set bson.D, conditions ...bson.E) (bool, error) {
	filter := slices.Concat(bson.D{kv("_id", ref.Code), kv("tenant", ref.Tenant)}, conditions)
	return updateIf(ctx, w.codes, filter, bson.D{kv("$set", set)})
}

// none matches a text that is empty, null or missing.
func none() bson.D { return bson.D{kv("$in", bson.A{nil, ""})} }

// HolderOf returns the code of a tenant that has a contact way.
func (w *Ways) HolderOf(ctx context.Context, tenant, configID string) (string, error) {
	docs, err := findAll[codeWayDoc](ctx, w.codes, bson.D{kv("tenant", tenant), kv("config_id", configID)},
		options.Find().SetProjection(codeWayFields).SetSort(bson.D{kv("_id", 1)}).SetLimit(1))
	if err != nil || len(docs) == 0 {
		return "", err
	}
	return docs[0].ID, nil
}
