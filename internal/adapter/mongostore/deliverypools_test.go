package mongostore

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Debits as a real replica set answers them: a first debit of a day beside
// another one, an answer that was lost, a write that no majority had.
func TestDebitOnAHarshServer(t *testing.T) {
	counted := func(n int) bson.D {
		batch := bson.A{}
		if n > 0 {
			batch = bson.A{bson.D{kv("_id", 1), kv("n", n)}}
		}
		return bson.D{kv("ok", 1), kv("cursor", bson.D{kv("id", int64(0)), kv("ns", "test.delivery_pools"), kv("firstBatch", batch)})}
	}
	for name, tc := range map[string]struct {
		answers  []bson.D
		want     bool
		wantErr  bool
		commands int
	}{
		"the first of the day":                      {[]bson.D{created}, true, false, 1},
		"the first of the day, beside another":      {[]bson.D{duplicate, updated}, true, false, 2},
		"one of many":                               {[]bson.D{updated}, true, false, 1},
		"nothing is left":                           {[]bson.D{duplicate, nothing, counted(0)}, false, false, 3},
		"it was paid for, and the answer was lost":  {[]bson.D{duplicate, nothing, counted(1)}, true, false, 3},
		"no majority knows of it":                   {[]bson.D{noMajority}, false, true, 1},
		"it is not known whether it was paid for":   {[]bson.D{duplicate, nothing, steppedDown, steppedDown}, false, true, 0},
		"the first of the day, beside a lost write": {[]bson.D{duplicate, noMajority}, false, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			db, sent := scripted(t, tc.answers...)
			got, err := db.Deliveries().Debit(t.Context(), "acme", "20260302", "id", 3)
			if (err != nil) != tc.wantErr || (err == nil && got != tc.want) {
				t.Errorf("Debit = %v, %v; want %v, error %v", got, err, tc.want, tc.wantErr)
			}
			if tc.commands != 0 && len(*sent) != tc.commands {
				t.Errorf("sent %v; want %d commands", *sent, tc.commands)
			}
		})
	}
}
