package mongostore

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/quota"
)

// A server that misses a document beside another writer does not make an addition
// count as counted.
func TestAnAdditionIsCountedThoughItsDocumentIsMissed(t *testing.T) {
	missed := bson.D{kv("ok", 1), kv("value", nil)}
	counted := bson.D{kv("ok", 1), kv("value", bson.D{kv("added", bson.D{kv("20261130", 3)})})}
	found := func(docs ...any) bson.D {
		return bson.D{kv("ok", 1), kv("cursor", bson.D{kv("id", int64(0)), kv("ns", "test.staff"), kv("firstBatch", append(bson.A{}, docs...))})}
	}
	staff := bson.D{kv("added", bson.D{kv("20261130", 3)})}
	tests := map[string]struct {
		answers []bson.D
		want    int // of his additions that day
		sent    int
		wantErr bool
	}{
		"counted at once":                              {[]bson.D{counted}, 3, 1, false},
		"counted before":                               {[]bson.D{missed, found(staff)}, 3, 2, false},
		"missed once, and counted then":                {[]bson.D{missed, found(), found(staff), counted}, 3, 4, false},
		"missed again and again is no success":         {slices.Repeat([]bson.D{missed, found(), found(staff)}, upsertAttempts), 0, 3 * upsertAttempts, true},
		"somebody who is not known counts for nothing": {slices.Repeat([]bson.D{missed, found(), found()}, 2), 0, 6, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			db, sent := scripted(t, tt.answers...)
			pair := quota.Pair{Staff: "amy"}
			pair.Tenant = "acme"
			doc, err := db.Quota().countOnStaff(t.Context(), pair, quota.Addition{ID: "a1", Day: "20261130"}, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
			if (err != nil) != tt.wantErr || doc.Added["20261130"] != tt.want || len(*sent) != tt.sent {
				t.Errorf("%+v, %v with %v; want %d, error %v with %d commands", doc.Added, err, *sent, tt.want, tt.wantErr, tt.sent)
			}
		})
	}
}
