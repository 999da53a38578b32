//go:build integration

package overload_test

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// indexConditions gives the stand-in for MongoDB what a server does by itself:
// it takes an index only for a query of exactly the index's fields, so that
// every compare-and-set on {_id, epoch} would scan the whole collection. On a
// real server these indexes change nothing but their own upkeep.
func (h *house) indexConditions() {
	h.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(h.servers.MongoURI))
	h.must(err)
	defer func() { h.must(client.Disconnect(h.Context())) }()
	for collection, condition := range map[string]string{"records": "epoch", "dirty": "version"} {
		_, err := client.Database(h.name).Collection(collection).Indexes().CreateOne(h.Context(), mongo.IndexModel{
			Keys:    bson.D{{Key: "_id", Value: 1}, {Key: condition, Value: 1}},
			Options: options.Index().SetUnique(true),
		})
		h.must(err)
	}
}
