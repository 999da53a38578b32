package quotatest_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/quota/quotatest"
)

func TestStoreConforms(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 11, 30, 2, 0, 0, 123_456_789, time.UTC) }
	quotatest.TestStore(t, func(*testing.T) quotatest.Bench {
		s := quotatest.NewStore(now)
		return quotatest.Bench{
			Store: s, PutTenant: s.PutTenant, PutStaff: s.PutStaff, PutCode: s.PutCode,
			Quarantine: s.Quarantine, Facts: s.Facts, Now: now,
		}
	})
}
