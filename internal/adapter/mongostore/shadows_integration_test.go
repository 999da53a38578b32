//go:build integration

package mongostore_test

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/shadow/shadowtest"
)

func TestShadowsConform(t *testing.T) {
	shadowtest.TestStore(t, func(t *testing.T) shadowtest.StoreBench {
		clock := shadowtest.NewClock()
		return shadowtest.StoreBench{Store: newWorld(t, clock.Now).Shadows(), Clock: clock}
	})
}

func TestShadowsDirectoryConforms(t *testing.T) {
	shadowtest.TestDirectory(t, func(t *testing.T) shadowtest.DirectoryBench {
		w := newWorld(t, time.Now)
		put := func(collection string, docs ...any) {
			if _, err := w.raw.Collection(collection).InsertMany(t.Context(), docs); err != nil {
				t.Fatal(err)
			}
		}
		code := func(tenant, id, mode string) bson.M { return bson.M{"_id": id, "tenant": tenant, "mode": mode} }
		put("tenants",
			bson.M{"_id": "mixed", "time_zone": "UTC"}, bson.M{"_id": "empty", "time_zone": "UTC"},
			bson.M{"_id": "moving", "time_zone": "America/New_York", "mode": "shadow", "term": 1})
		put("codes",
			bson.M{"_id": "follows", "tenant": "mixed"}, code("mixed", "live", "live"), code("mixed", "shadow", "shadow"),
			bson.M{"_id": "retired", "tenant": "mixed", "mode": "shadow", "deleted": true},
			bson.M{"_id": "moving-follows", "tenant": "moving"}, code("moving", "moving-live", "live"),
			bson.M{"_id": "moving-shadow", "tenant": "moving", "mode": "shadow", "term": 2})
		return shadowtest.DirectoryBench{Directory: w.Shadows()}
	})
}

// A refresher leaves its verdict with every refresh; while the list stays it is
// one write.
func TestAShadowThatStaysIsOneRoundTrip(t *testing.T) {
	w := newWorld(t, time.Now)
	one := push.Shadow{Members: []string{"ann"}, At: shadowtest.T0}
	for i, want := range [][]string{{"update", "update"}, {"update"}} {
		one.At = one.At.Add(time.Second)
		var err error
		got := w.commands.during(func() { err = w.Shadows().Note(t.Context(), push.Ref{Tenant: "acme", Code: "c-1"}, one) })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("note %d sends %v, %v; want %v", i+1, got, err, want)
		}
	}
}
