//go:build integration

package mongostore_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/contactway/waytest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestWays(t *testing.T) {
	waytest.TestStore(t, func(t *testing.T) waytest.Bench {
		w := newWorld(t, time.Now)
		ways := w.Ways()
		return waytest.Bench{Rows: ways, Codes: ways, PutFacts: func(facts roster.Facts) {
			t.Helper()
			var staff []roster.Staff
			for _, one := range facts.Staff {
				staff = append(staff, one)
			}
			for _, err := range []error{
				w.Facts().PutTenant(t.Context(), facts.Tenant),
				w.Facts().PutStaff(t.Context(), facts.Tenant.ID, staff...),
				w.Facts().PutCodes(t.Context(), facts.Code),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}}
	})
}

// A code whose contact way was deleted at WeCom gets a new one: the list that
// was pushed to the old one has to be pushed again, though it is the same.
func TestANewContactWayIsPushedTo(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	w.seed(t, acme, 1)
	store := w.Store()
	intent := push.Intent{Epoch: 1, Hash: "h", Owner: "p", Deadline: time.Now().Add(time.Minute)}
	if ok, err := store.Begin(ctx, acme, 0, intent); !ok || err != nil {
		t.Fatalf("Begin: %v, %v", ok, err)
	}
	committed := push.Committed{Members: []string{"staff-0000"}, Hash: "h", Epoch: 1, At: time.Now()}
	if ok, err := store.Commit(ctx, acme, committed, []int64{1}, time.Time{}); !ok || err != nil {
		t.Fatalf("Commit: %v, %v", ok, err)
	}
	if _, err := w.raw.Collection("codes").UpdateOne(ctx, bson.M{"_id": acme.Code}, bson.M{"$set": bson.M{"config_id": ""}}); err != nil {
		t.Fatal(err)
	}
	if given, err := w.Ways().Give(ctx, acme, contactway.Way{ConfigID: "cfg-2", QRCode: "q"}); !given || err != nil {
		t.Fatalf("Give: %v, %v", given, err)
	}
	_, record, err := store.Load(ctx, acme)
	if err != nil || record.Epoch != 1 || record.Committed.Hash != "" || len(record.Committed.Members) != 0 {
		t.Errorf("record %+v, %v; want the epoch and nothing pushed", record, err)
	}
}

// A producer's document may lack config_id, or hold null: that is no contact way.
func TestGiveToAProducersDocument(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	for id, doc := range map[string]bson.M{
		"missing": {"_id": "missing", "tenant": "acme"},
		"null":    {"_id": "null", "tenant": "acme", "config_id": nil, "deleted": nil, "state": nil},
		"empty":   {"_id": "empty", "tenant": "acme", "config_id": "", "deleted": false, "state": ""},
	} {
		if _, err := w.raw.Collection("codes").InsertOne(ctx, doc); err != nil {
			t.Fatal(err)
		}
		ref := push.Ref{Tenant: "acme", Code: id}
		given, err := w.Ways().Give(ctx, ref, contactway.Way{ConfigID: "cfg-" + id, QRCode: "q", State: "s"})
		if !given || err != nil {
			t.Errorf("%s: %v, %v", id, given, err)
		}
		var got bson.M
		if err := w.raw.Collection("codes").FindOne(ctx, bson.M{"_id": id}).Decode(&got); err != nil {
			t.Fatal(err)
		}
		if got["config_id"] != "cfg-"+id || got["qr_code"] != "q" || got["state"] != "s" {
			t.Errorf("%s: stored %v", id, got)
		}
	}
}
