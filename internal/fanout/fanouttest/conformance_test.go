package fanouttest_test

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
)

func TestStoreConforms(t *testing.T) {
	fanouttest.TestStore(t, func(*testing.T) fanouttest.Bench {
		codes := fanouttest.NewCodes()
		return fanouttest.Bench{
			Store: fanouttest.NewStore(), Codes: codes, PutTenant: codes.PutTenant, PutCodes: codes.PutCodes,
		}
	})
}
