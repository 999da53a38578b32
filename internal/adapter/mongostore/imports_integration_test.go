//go:build integration

package mongostore_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/adoption/adoptiontest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestImportsConform(t *testing.T) {
	adoptiontest.TestStore(t, func(t *testing.T) adoptiontest.Bench {
		w := newWorld(t, time.Now)
		must := func(err error) {
			if err != nil {
				t.Errorf("producer: %v", err)
			}
		}
		return adoptiontest.Bench{
			Jobs: w.Imports(), Facts: w.Adoptions(),
			PutTenant: func(tenant string) { must(w.Facts().PutTenant(t.Context(), roster.Tenant{ID: tenant})) },
			PutCode:   func(code roster.Code) { must(w.Facts().PutCodes(t.Context(), code)) },
			Stored: func(tenant, code string) (roster.Facts, string) {
				facts, err := w.Store().Facts(t.Context(), push.Ref{Tenant: tenant, Code: code})
				must(err)
				shown, err := w.Registry().CodesOf(t.Context(), tenant, []string{code})
				must(err)
				return facts, shown[code].QRCode
			},
		}
	})
}

// What producers wrote of a tenant and of staff stays.
func TestAnImportLeavesFactsAlone(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	for _, err := range []error{
		w.Facts().PutTenant(ctx, roster.Tenant{ID: "acme", TimeZone: "Asia/Tokyo", DailyTotal: 60}),
		w.Facts().PutStaff(ctx, "acme", roster.Staff{ID: "li.na", Resigned: true}),
		w.Adoptions().Shadow(ctx, "acme"),
		w.Adoptions().AddStaff(ctx, "acme", []string{"li.na", "bob"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for collection, want := range map[string]bson.M{
		"tenants": {"_id": "acme", "time_zone": "Asia/Tokyo", "daily_total": int32(60), "mode": "shadow", "term": int64(1)},
		"staff":   {"_id": "acme/li.na", "resigned": true},
	} {
		var got bson.M
		if err := w.raw.Collection(collection).FindOne(ctx, bson.M{"_id": want["_id"]}).Decode(&got); err != nil {
			t.Fatal(err)
		}
		for field, value := range want {
			if got[field] != value {
				t.Errorf("%s: %s is %v, want %v", collection, field, got[field], value)
			}
		}
	}
	var bob bson.M
	if err := w.raw.Collection("staff").FindOne(ctx, bson.M{"_id": "acme/bob"}).Decode(&bob); err != nil || len(bob) != 3 {
		t.Errorf("who is new: %v, %v; want tenant and staff alone", bob, err)
	}
}
