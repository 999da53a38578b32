package waytest_test

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/contactway/waytest"
)

func TestStoreInMemory(t *testing.T) {
	waytest.TestStore(t, func(*testing.T) waytest.Bench {
		store := waytest.NewStore()
		return waytest.Bench{Rows: store, Codes: store, PutFacts: store.PutFacts}
	})
}
