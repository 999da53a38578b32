// Package standin makes up for what the stand-in for MongoDB does not do by
// itself.
package standin

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// IndexConditions indexes {_id, field} of some collections, named with the field
// that their compare-and-set asks for. A server finds such a document by its _id;
// the stand-in takes an index only for a query of exactly its fields, and scans
// the whole collection otherwise. On a server these indexes change nothing but
// their own upkeep.
func IndexConditions(t *testing.T, uri, database string, fields map[string]string) {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	for collection, field := range fields {
		_, err := client.Database(database).Collection(collection).Indexes().CreateOne(t.Context(), mongo.IndexModel{
			Keys:    bson.D{{Key: "_id", Value: 1}, {Key: field, Value: 1}},
			Options: options.Index().SetUnique(true),
		})
		if err != nil {
			t.Errorf("index %s by %s: %v", collection, field, err)
		}
	}
	if err := client.Disconnect(t.Context()); err != nil {
		t.Error(err)
	}
}
