//go:build integration

package mongostore_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota/quotatest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestQuotaConforms(t *testing.T) { quotatest.TestStore(t, quotaBench) }

func quotaBench(t *testing.T) quotatest.Bench {
	w := newWorld(t, time.Now)
	facts, store := w.Facts(), w.Store()
	must := func(err error) {
		if err != nil {
			t.Errorf("producer: %v", err)
		}
	}
	return quotatest.Bench{
		Store:     w.Quota(),
		PutTenant: func(tenant roster.Tenant) { must(facts.PutTenant(t.Context(), tenant)) },
		PutStaff: func(tenant string, staff ...roster.Staff) {
			must(facts.PutStaff(t.Context(), tenant, staff...))
		},
		PutCode: func(code roster.Code) { must(facts.PutCodes(t.Context(), code)) },
		Quarantine: func(tenant, staff string, until time.Time) {
			must(store.Quarantine(t.Context(), tenant, staff, until, "60011"))
		},
		Facts: func(ref push.Ref) roster.Facts {
			facts, err := store.Facts(t.Context(), ref)
			must(err)
			return facts
		},
		Now: time.Now,
	}
}
