//go:build integration

package mongostore_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestFanOutsConform(t *testing.T) { fanouttest.TestStore(t, fanOutBench) }

func fanOutBench(t *testing.T) fanouttest.Bench {
	w := newWorld(t, time.Now)
	facts, fanOuts := w.Facts(), w.FanOuts()
	must := func(err error) {
		if err != nil {
			t.Errorf("producer: %v", err)
		}
	}
	return fanouttest.Bench{
		Store:     fanOuts,
		Codes:     fanOuts,
		PutTenant: func(tenant roster.Tenant) { must(facts.PutTenant(t.Context(), tenant)) },
		PutCodes:  func(codes ...roster.Code) { must(facts.PutCodes(t.Context(), codes...)) },
	}
}
