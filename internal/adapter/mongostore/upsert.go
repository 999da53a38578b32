package mongostore

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// upsertAttempts bounds the retries of a write that has to happen. Each retry
// needs another writer who creates or removes the document in between.
const upsertAttempts = 5

var errContended = errors.New("the document was created and removed by others at every attempt")

// upsertIf updates the document if the filter's condition holds, and creates
// it if there is none. It reports whether it did either.
//
// A server that finds no document for the filter inserts one, and answers
// E11000 when the _id is taken: either the condition does not hold, or another
// writer created the document a moment ago. The plain update tells which.
func upsertIf(ctx context.Context, in *mongo.Collection, filter, update bson.D) (bool, error) {
	result, err := in.UpdateOne(ctx, filter, update, options.UpdateOne().SetUpsert(true))
	if mongo.IsDuplicateKeyError(err) {
		result, err = in.UpdateOne(ctx, filter, update)
	}
	if err != nil {
		return false, err
	}
	return result.MatchedCount+result.UpsertedCount > 0, nil
}

// upsert updates or creates the document with the _id, whatever others do.
func upsert(ctx context.Context, in *mongo.Collection, id string, update bson.D) error {
	for range upsertAttempts {
		done, err := upsertIf(ctx, in, byID(id), update)
		if done || err != nil {
			return err
		}
	}
	return errContended
}

// updateIf updates the document if the filter's condition holds and reports
// whether it did.
func updateIf(ctx context.Context, in *mongo.Collection, filter, update bson.D) (bool, error) {
	result, err := in.UpdateOne(ctx, filter, update)
	if err != nil {
		return false, err
	}
	return result.MatchedCount > 0, nil
}
