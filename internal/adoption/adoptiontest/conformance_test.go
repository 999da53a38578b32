package adoptiontest_test

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/adoption/adoptiontest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestStoreConforms(t *testing.T) {
	adoptiontest.TestStore(t, func(*testing.T) adoptiontest.Bench {
		store := adoptiontest.NewStore()
		return adoptiontest.Bench{
			Jobs: store, Facts: store, PutTenant: store.PutTenant, Stored: store.Stored,
			PutCode: func(code roster.Code) { store.PutCode(adoption.NewCode{Code: code}) },
		}
	})
}
