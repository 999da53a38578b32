//go:build integration

package mongostore_test

import (
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// TestFactsOfTheWrongTypeAreInvalidFacts writes what a careless producer may:
// it is a mistake in the facts, not a store that cannot be asked.
func TestFactsOfTheWrongTypeAreInvalidFacts(t *testing.T) {
	cases := []struct {
		name, collection string
		doc              bson.D
	}{
		{"code", "codes", bson.D{{Key: "_id", Value: "c1"}, {Key: "tenant", Value: "acme"}, {Key: "members", Value: "ann"}}},
		{"tenant", "tenants", bson.D{{Key: "_id", Value: "acme"}, {Key: "daily_total", Value: "twelve"}}},
		{"staff", "staff", bson.D{{Key: "_id", Value: "acme/ann"}, {Key: "resigned", Value: "no"}}},
		{"counters", "counters", bson.D{{Key: "_id", Value: "c1"}, {Key: "total", Value: 7}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, time.Now)
			ref := push.Ref{Tenant: "acme", Code: "c1"}
			facts := w.Facts()
			if err := errors.Join(
				facts.PutTenant(t.Context(), roster.Tenant{ID: "acme"}),
				facts.PutStaff(t.Context(), "acme", roster.Staff{ID: "ann"}),
				facts.PutCodes(t.Context(), roster.Code{ID: "c1", Tenant: "acme", Family: roster.Native, Members: []roster.Member{{Staff: "ann"}}}),
			); err != nil {
				t.Fatal(err)
			}
			if _, _, err := w.Store().Load(t.Context(), ref); err != nil {
				t.Fatalf("Load() = %v before the mistake", err)
			}
			if _, err := w.raw.Collection(c.collection).DeleteOne(t.Context(), bson.D{c.doc[0]}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.raw.Collection(c.collection).InsertOne(t.Context(), c.doc); err != nil {
				t.Fatal(err)
			}
			if _, _, err := w.Store().Load(t.Context(), ref); !errors.Is(err, push.ErrInvalidFacts) {
				t.Errorf("Load() = %v; want push.ErrInvalidFacts", err)
			}
		})
	}
}
