package plan_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var midnight = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// wecom is what WeCom allows, as it ships: 39.5 calls a second after 7500.
func wecom() plan.Budget {
	return plan.Budget{
		Tenant: []plan.Window{{Calls: 10_000, Per: time.Minute}, {Calls: 150_000, Per: time.Hour}}, TenantBurst: 7500,
		Address: []plan.Window{{Calls: 20_000, Per: time.Minute}, {Calls: 600_000, Per: time.Hour}}, AddressBurst: 9800,
		Instances: 3, Delay: 2 * time.Second, RemovalShare: 0.03,
	}
}

// input is a company in which each person sits on codes×seats÷people codes, on a
// calm day.
func input(people, codes, seats int) plan.Input {
	in := plan.Input{
		Company:  plan.Company{Tenant: "acme", Zone: time.UTC, Day: "20261201"},
		Campaign: plan.Campaign{Start: midnight, Length: 23 * time.Hour},
		Budget:   wecom(),
		Releasing: plan.Releasing{
			Ingresses: 2, Burst: 500, Jobs: 4, Poll: 500 * time.Millisecond, Saved: 2 * time.Second,
		},
		Refreshing:   plan.Refreshing{InFlight: 16, PushTime: 200 * time.Millisecond, ParkAfter: 2 * time.Minute},
		SlowInterval: 10 * time.Minute,
	}
	for i := range people {
		in.Company.People = append(in.Company.People, plan.Person{ID: fmt.Sprintf("s%03d", i), Presence: roster.Online})
	}
	for i := range codes {
		code := plan.Code{ID: fmt.Sprintf("c%05d", i), OfflineCheck: true}
		for j := range seats {
			code.Seats = append(code.Seats, plan.Seat{Person: int32((i + j*7) % people)})
		}
		in.Company.Codes = append(in.Company.Codes, code)
	}
	return in
}

func play(t *testing.T, in plan.Input) plan.Outcome {
	t.Helper()
	out, err := plan.Play(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func off(at time.Duration, who ...string) plan.Change {
	return plan.Change{At: at, Who: who, To: roster.OfflineNow}
}

func TestOnePersonLeavesAllHisCodes(t *testing.T) {
	in := input(100, 1000, 10)
	in.Campaign.Changes = []plan.Change{off(9*time.Hour, "s003")}
	out := play(t, in)
	if out.Events != 100 || out.Changes != 100 || out.Pushes != 100 || out.Merged() != 0 {
		t.Errorf("%d events, %d changes, %d pushes; want a hundred of each", out.Events, out.Changes, out.Pushes)
	}
	if out.Saturation != (plan.Saturation{}) || out.Freshness.P95 > 11*time.Second {
		t.Errorf("saturated %+v, freshness %+v; want neither: the burst holds them", out.Saturation, out.Freshness)
	}
	if c := out.Costs[0]; c.Person != "s003" || c.Lists != 100 || c.Codes != 100 || c.Cause != plan.Presence {
		t.Errorf("the dearest is %+v", c)
	}
}

// A shift that ends for all at once: the keeper releases the codes at the tenant's
// rate, codes ÷ 39.5, as docs/operations/sizing.md has it.
func TestTheEdgeOfAShiftTakesCodesOverRate(t *testing.T) {
	in := input(100, 10_000, 10)
	for i := range in.Company.People {
		p := &in.Company.People[i]
		p.Presence, p.Schedule = roster.PresenceUnset, &roster.Schedule{}
		for day := range p.Schedule.Weekly {
			p.Schedule.Weekly[day] = []roster.Shift{{From: 9*60 + i%2*60, To: 18 * 60}}
		}
	}
	in.Campaign.Start, in.Campaign.Length = midnight.Add(8*time.Hour), 6*time.Hour
	out := play(t, in)
	if out.Pushes != 20_000 || out.ByCause[plan.Shift] != 100_000 {
		t.Errorf("%d pushes for %d changes; want one a code at nine and one at ten", out.Pushes, out.ByCause[plan.Shift])
	}
	took := out.LastPush - 2*time.Hour
	if want := 253 * time.Second; took < want-15*time.Second || took > want+15*time.Second {
		t.Errorf("took %v; want about %v", took, want)
	}
}

func TestAStormBeyondTheBurstSaturates(t *testing.T) {
	in := input(100, 20_000, 10)
	in.Burst = 100_000 // all at once
	in.InFlight = 1000
	in.Company.People = append(in.Company.People, plan.Person{ID: "stays", Presence: roster.Online})
	for i := range in.Company.Codes {
		in.Company.Codes[i].Reserves = [][]int32{{100}}
	}
	in.Campaign.Changes = []plan.Change{{At: time.Hour, But: []string{"stays"}, To: roster.OfflineNow}}
	out := play(t, in)
	if out.Pushes != 20_000 {
		t.Errorf("%d pushes; want one a code, %d changes merged", out.Pushes, out.Changes)
	}
	rate, _ := in.Budget.Rates()
	least := time.Duration(float64(20_000-7500) / rate * float64(time.Second))
	if got := out.Saturation.Longest; got < least-20*time.Second || got > least+30*time.Second {
		t.Errorf("drained in %v; want about %v", got, least)
	}
	if out.Throttled < 12_000 || out.Saturation.Peak < 10_000 {
		t.Errorf("%d throttled, %d in line at most; want those beyond the burst", out.Throttled, out.Saturation.Peak)
	}
}

func TestMidnightBringsThemBack(t *testing.T) {
	in := input(100, 1000, 10)
	in.Company.DailyTotal = 5
	in.Campaign.Length = 25 * time.Hour
	in.Campaign.Additions = 2000
	out := play(t, in)
	if out.Ceilings < 95 || out.ByCause[plan.NewDay] == 0 {
		t.Errorf("%d at the ceiling, %v; want nearly all, and all back after midnight", out.Ceilings, out.ByCause)
	}
}

// Who was at a ceiling on the day that was counted is back when the campaign's day
// begins.
func TestTheDayBeforeEndsAtTheStart(t *testing.T) {
	in := input(10, 100, 2)
	in.Company.Day = "20261130"
	in.Company.People[3].Removed = true
	in.Company.Codes[0].Seats[0].DailyLimit, in.Company.Codes[0].Seats[0].Today = 4, 4
	out := play(t, in)
	if out.ByCause[plan.NewDay] != 21 || out.Pushes != 21 || out.LastPush > time.Minute {
		t.Errorf("%v, %d pushes by %v; want his twenty codes and the one of a place", out.ByCause, out.Pushes, out.LastPush)
	}
}

// Each of three is drawn once a round: two additions take one off each, the third
// brings all back.
func TestARoundEnds(t *testing.T) {
	in := input(3, 1, 3)
	code := &in.Company.Codes[0]
	code.Rotates = true
	for i := range code.Seats {
		code.Seats[i].RoundLimit = 1
	}
	in.Campaign.Additions = 9
	if out := play(t, in); out.ByCause[plan.Ceiling] != 9 || out.Pushes != 9 {
		t.Errorf("%v, %d pushes; want one an addition", out.ByCause, out.Pushes)
	}
}

// The codes of a campaign are new: they get as much as the others have on average.
func TestFreshCodesGetCustomers(t *testing.T) {
	in := input(20, 20, 1)
	for i := range in.Company.Codes {
		in.Company.Codes[i].Seats[0].DailyLimit = 1
		in.Company.Codes[i].Fresh, in.Company.Codes[i].PerDay = i >= 10, 5*float64(i%2)
	}
	in.Campaign.Additions = 400
	if out := play(t, in); out.ByCause[plan.Ceiling] != 0 || out.Costs != nil {
		t.Errorf("%v: the only member of a code was taken off it", out.ByCause)
	}
	for i := range in.Company.Codes {
		in.Company.Codes[i].Reserves = [][]int32{{int32((i + 1) % 20)}}
	}
	if out := play(t, in); out.ByCause[plan.Ceiling] != 15 {
		t.Errorf("%v; want those of the five codes that had customers and of the ten fresh ones", out.ByCause)
	}
}

func TestTheSlowLaneMerges(t *testing.T) {
	fast := input(20, 50, 10)
	fast.Campaign.ChangesEach = 40
	slow := fast
	slow.Company.Codes = nil
	for _, code := range fast.Company.Codes {
		code.Interval = time.Hour
		slow.Company.Codes = append(slow.Company.Codes, code)
	}
	a, b := play(t, fast), play(t, slow)
	if b.Pushes > a.Pushes/2 || b.Pushes > 50*25 {
		t.Errorf("fast: %d pushes for %d changes; slow: %d for %d; want at most one an hour and code", a.Pushes, a.Changes, b.Pushes, b.Changes)
	}
	if b.Freshness.P50 < time.Minute {
		t.Errorf("freshness in the slow lane is %v", b.Freshness.P50)
	}
}

// Merging cannot make it worse: who waits longer pushes less often.
func TestWaitingNeverCostsPushes(t *testing.T) {
	for seed := range uint64(25) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		in := input(5+rnd.IntN(60), 20+rnd.IntN(500), 2+rnd.IntN(5))
		in.Campaign.ChangesEach = float64(2 + rnd.IntN(20))
		in.Company.People = append(in.Company.People, plan.Person{ID: "desk"})
		in.Campaign.Changes = []plan.Change{off(0, "desk")} // and comes and goes like the others
		for i := range in.Company.Codes {
			in.Company.Codes[i].Reserves = [][]int32{{int32(len(in.Company.People) - 1)}}
		}
		before := play(t, in)
		for _, interval := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour} {
			for i := range in.Company.Codes {
				in.Company.Codes[i].Interval = interval
			}
			out := play(t, in)
			if out.Pushes > before.Pushes {
				t.Errorf("seed %d: %d pushes with a lane of %v, %d before", seed, out.Pushes, interval, before.Pushes)
			}
			before = out
		}
	}
}

// What holds whatever the company and the day are.
func TestProperties(t *testing.T) {
	for seed := range uint64(25) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		in := input(5+rnd.IntN(60), 20+rnd.IntN(500), 1+rnd.IntN(5))
		in.Company.DailyTotal = rnd.IntN(8)
		in.Campaign.Additions = float64(rnd.IntN(3000))
		in.Campaign.ChangesEach = float64(rnd.IntN(4))
		in.Budget.TenantBurst, in.Budget.Tenant[1].Calls = 10+rnd.IntN(100), 400+rnd.IntN(4000)
		for i := range in.Company.Codes {
			for j := range in.Company.Codes[i].Seats {
				in.Company.Codes[i].Seats[j].DailyLimit = rnd.IntN(6)
			}
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { holds(t, in) })
	}
}

func holds(t *testing.T, in plan.Input) {
	t.Helper()
	out := play(t, in)
	if again := play(t, in); again.Pushes != out.Pushes || again.LastPush != out.LastPush {
		t.Error("the same input gave two answers")
	}
	if out.Pushes > out.Events || out.Pushes > out.Changes {
		t.Errorf("%d pushes of %d events and %d changes", out.Pushes, out.Events, out.Changes)
	}
	rate, _ := in.Budget.Rates()
	if least := (float64(out.Pushes) - float64(in.Budget.TenantBurst)) / rate; out.LastPush.Seconds() < least-1 {
		t.Errorf("%d pushes by %v; the budget allows them by %.0f s", out.Pushes, out.LastPush, least)
	}
	more := in
	more.Campaign.Additions *= 1.5
	if m := play(t, more); m.Additions+m.Lost < out.Additions+out.Lost || m.ByCause[plan.CompanyCeiling] < out.ByCause[plan.CompanyCeiling] && in.Campaign.ChangesEach == 0 {
		t.Errorf("half as many additions more: %d after %d, company ceilings %v after %v", m.Additions, out.Additions, m.ByCause, out.ByCause)
	}
}
