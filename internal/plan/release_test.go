package plan_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// dealt is a company whose people sit on codes at random, with 29 calls a second
// after a burst of 200.
func dealt(people, codes, seats int) plan.Input {
	in := input(people, 1, 1)
	in.Company.Codes = nil
	rnd := rand.New(rand.NewPCG(5, 8))
	for i := range codes {
		c := plan.Code{ID: fmt.Sprintf("c%04d", i), OfflineCheck: true}
		for _, at := range rnd.Perm(people)[:seats] {
			c.Seats = append(c.Seats, plan.Seat{Person: int32(at)})
		}
		in.Company.Codes = append(in.Company.Codes, c)
	}
	in.Budget.Tenant = []plan.Window{{Calls: 600, Per: 6 * time.Second}, {Calls: 2000, Per: time.Minute}}
	in.Budget.TenantBurst, in.Budget.Instances, in.Burst = 200, 2, 100
	return in
}

// Everybody goes and, before all fan-outs have begun, comes back. Those asked for
// again are the latest: the codes that were pushed meanwhile are found first.
func TestAFanOutAskedForAgainIsTheLatest(t *testing.T) {
	in := dealt(30, 600, 5)
	in.Company.People = append(in.Company.People, plan.Person{ID: "desk", Presence: roster.Online})
	for i := range in.Company.Codes {
		in.Company.Codes[i].Reserves = [][]int32{{30}}
	}
	desk := []string{"desk"}
	in.Campaign.Length = 12 * time.Second
	in.Campaign.Changes = []plan.Change{
		{Over: 2 * time.Second, But: desk, To: roster.OfflineNow},
		{At: 10 * time.Second, Over: 2 * time.Second, But: desk, To: roster.Online},
	}
	out := play(t, in)
	if out.LastPush > 45*time.Second || out.Pushes != 989 {
		t.Errorf("%d pushes, the last after %v; want 989 within 45 s: lists that came back to what they were are not pushed", out.Pushes, out.LastPush)
	}
}

// Twelve people go at once. Four fan-outs begin at each ingress; the keeper finds
// the other four, and without it they would never be done.
func TestTheKeeperTakesWhatNobodyWorksOn(t *testing.T) {
	in := dealt(12, 600, 1)
	in.Company.People = append(in.Company.People, plan.Person{ID: "desk", Presence: roster.Online})
	for i := range in.Company.Codes {
		in.Company.Codes[i].Reserves = [][]int32{{12}}
	}
	in.Campaign.Changes = []plan.Change{{At: time.Second, But: []string{"desk"}, To: roster.OfflineNow}}
	in.Campaign.Length = time.Minute
	if out := play(t, in); out.Pushes != 600 || out.Endless {
		t.Errorf("%d pushes, endless %v; want every code", out.Pushes, out.Endless)
	}
}

// A code whose lane opens after a long wait comes by way of the keeper, at its pace
// and not in a burst.
func TestALongWaitForTheLaneEndsAtTheKeepersPace(t *testing.T) {
	in := dealt(2, 400, 2)
	in.Burst, in.InFlight = 1000, 10_000
	for i := range in.Company.Codes {
		in.Company.Codes[i].Interval, in.Company.Codes[i].LastPush = 10*time.Minute, in.Campaign.Start.Add(-time.Minute)
	}
	in.Campaign.Length = time.Minute
	in.Campaign.Changes = []plan.Change{off(0, "s000")}
	out := play(t, in)
	rate, _ := in.Budget.Rates()
	least := 9*time.Minute + time.Duration((400-2*rate)/rate*float64(time.Second))
	if out.Pushes != 400 || out.LastPush < least-time.Second || out.LastPush > least+5*time.Second {
		t.Errorf("%d pushes, the last at %v; want 400 by %v", out.Pushes, out.LastPush, least)
	}
}

// While a code waits for its lane, it is not behind: nothing is short.
func TestALaneIsNoShortage(t *testing.T) {
	in := dealt(3, 40, 3)
	for i := range in.Company.Codes {
		in.Company.Codes[i].Interval, in.Company.Codes[i].LastPush = 10*time.Minute, in.Campaign.Start
	}
	in.Campaign.Length = 5 * time.Minute
	in.Campaign.Changes = []plan.Change{off(0, "s000"), off(time.Minute, "s001")}
	if out := play(t, in); out.Saturation != (plan.Saturation{}) || out.Throttled > 0 || out.Pushes != 40 {
		t.Errorf("%d pushes, %+v", out.Pushes, out.Saturation)
	}
}
