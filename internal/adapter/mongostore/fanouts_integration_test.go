//go:build integration

package mongostore_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
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

func TestFanOutsUnderWay(t *testing.T) {
	w := newWorld(t, time.Now)
	fanOuts, begun := w.FanOuts(), time.Now().Truncate(time.Millisecond)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, staff := range []string{"late", "claimed", "done"} {
		_, err := fanOuts.Request(t.Context(), fanout.Request{
			Scope: fanout.Scope{Tenant: "acme", Staff: staff}, Why: "staff_changed", At: begun.Add(-time.Duration(i) * time.Minute),
		})
		must(err)
	}
	jobs, err := fanOuts.UnderWay(t.Context(), 10)
	must(err)
	for _, job := range jobs[:2] { // done and claimed are the oldest
		claim := fanout.Claim{Token: job.Claim.Token + 1, Owner: "r", Until: begun.Add(time.Hour)}
		_, err := fanOuts.Claim(t.Context(), job, claim, time.Now())
		must(err)
	}
	finished, _, err := fanOuts.Job(t.Context(), jobs[0].ID)
	must(err)
	finished.State, finished.Finished = fanout.Done, begun
	_, err = fanOuts.Save(t.Context(), finished)
	must(err)
	jobs, err = fanOuts.UnderWay(t.Context(), 10)
	must(err)
	if len(jobs) != 2 || jobs[0].Staff != "claimed" || jobs[1].Staff != "late" {
		t.Errorf("%+v", jobs)
	}
	if jobs, err = fanOuts.UnderWay(t.Context(), 1); err != nil || len(jobs) != 1 {
		t.Errorf("one of them: %v, %v", jobs, err)
	}
}
