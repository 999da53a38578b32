package plan_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func applied(t *testing.T, text string, in plan.Input) plan.Input {
	t.Helper()
	w, err := plan.ParseWhatIf(text)
	if err != nil {
		t.Fatal(err)
	}
	return w.Applied(in)
}

// A day with ceilings that the quota is too small for.
func short() plan.Input {
	in := input(60, 600, 10)
	in.Company.DailyTotal = 10
	in.Campaign.Additions = 550
	in.Campaign.Peaks = []plan.Peak{{At: 12 * time.Hour, Over: time.Minute, Share: 0.8}}
	in.Budget.TenantBurst, in.Budget.Tenant[0].Calls, in.Budget.Tenant[1].Calls = 50, 1000, 8000
	return in
}

func TestWhatWouldChangeAShortDay(t *testing.T) {
	in := short()
	present := play(t, in)
	if present.Saturation.Whole == 0 || present.Ceilings < 10 {
		t.Fatalf("%+v, %d at the ceiling: the day is not short", present.Saturation, present.Ceilings)
	}
	for _, tc := range []struct {
		whatIf string
		helps  bool
	}{{"quota=x10", true}, {"ceilings=x2", true}, {"slow=0%", false}, {"additions=x0.5", true}, {"codes=x2", false}} {
		other := play(t, applied(t, tc.whatIf, in))
		if helps := other.Throttled < present.Throttled; helps != tc.helps {
			t.Errorf("%s: %d pushes wait, as it is %d", tc.whatIf, other.Throttled, present.Throttled)
		}
	}
}

func TestAWhatIfLeavesThePresentAlone(t *testing.T) {
	in := short()
	before := play(t, in)
	play(t, applied(t, "additions=x3,codes=x2,quota=x2,ceilings=x0.5,slow=50%", in))
	if after := play(t, in); after.Pushes != before.Pushes || after.Additions != before.Additions {
		t.Errorf("%d pushes before, %d after", before.Pushes, after.Pushes)
	}
}

func TestRemediesHelp(t *testing.T) {
	in := short()
	present := play(t, in)
	remedies, err := plan.Remedies(in, present)
	if err != nil || len(remedies) == 0 {
		t.Fatalf("%d remedies, %v", len(remedies), err)
	}
	for _, r := range remedies {
		if r.Outcome.Freshness.P95 >= present.Freshness.P95 {
			t.Errorf("%s: %+v; as it is %+v", r.What, r.Outcome.Freshness, present.Freshness)
		}
	}
}

func TestShiftsSpreadOutHelp(t *testing.T) {
	in := input(100, 10_000, 10)
	for i := range in.Company.People {
		p := &in.Company.People[i]
		p.Presence, p.Schedule = roster.PresenceUnset, &roster.Schedule{}
		for day := range p.Schedule.Weekly {
			p.Schedule.Weekly[day] = []roster.Shift{{From: 9*60 + i%2*60, To: 18 * 60}}
		}
	}
	in.Campaign.Additions = 500
	present := play(t, in)
	remedies, err := plan.Remedies(in, present)
	if err != nil || present.Lost > 0 {
		t.Fatalf("%v; %d customers found nobody, at night they meet the last list", err, present.Lost)
	}
	for _, r := range remedies {
		if r.What == "shifts spread over an hour" && r.Outcome.Freshness.P95 < time.Minute {
			return
		}
	}
	t.Errorf("%+v", remedies)
}

func TestInputsThatMakeNoSense(t *testing.T) {
	for name, spoil := range map[string]func(*plan.Input){
		"no length": func(in *plan.Input) { in.Campaign.Length = 0 },
		"a month":   func(in *plan.Input) { in.Campaign.Length = 31 * 24 * time.Hour },
		"peaks above all": func(in *plan.Input) {
			in.Campaign.Peaks = []plan.Peak{{Over: time.Hour, Share: 0.7}, {Over: time.Hour, Share: 0.7}}
		},
		"a late peak": func(in *plan.Input) {
			in.Campaign.Peaks = []plan.Peak{{At: 48 * time.Hour, Over: time.Hour, Share: 0.7}}
		},
		"nobody":           func(in *plan.Input) { in.Campaign.Changes = []plan.Change{off(0, "who")} },
		"a late change":    func(in *plan.Input) { in.Campaign.Changes = []plan.Change{off(48 * time.Hour)} },
		"all is the burst": func(in *plan.Input) { in.Budget.TenantBurst = 20_000 },
		"no refresher":     func(in *plan.Input) { in.InFlight = 0 },
	} {
		in := input(5, 20, 2)
		spoil(&in)
		if _, err := plan.Play(in); err == nil {
			t.Errorf("%s was played", name)
		}
	}
}

// The address is shared: tenants that each have enough may have too little
// together.
func TestTheSumOfTenants(t *testing.T) {
	in := input(20, 2000, 2)
	in.Campaign.Changes = []plan.Change{off(time.Hour)}
	var sum plan.Sum
	one := play(t, in)
	for range 30 {
		sum.Add(one)
	}
	if sum.Tenants != 30 || sum.Pushes != 30*one.Pushes || sum.Short != 0 || len(sum.Dearest) != 10 {
		t.Errorf("%+v", sum)
	}
	at := sum.AtAddress(in.Budget)
	_, rate := in.Budget.Rates()
	least := time.Duration((float64(sum.Pushes) - float64(in.Budget.AddressBurst)) / rate * float64(time.Second))
	if at.Whole < least-2*time.Minute || at.Whole > least+3*time.Minute {
		t.Errorf("the address is short for %v; want about %v", at.Whole, least)
	}
	if none := (&plan.Sum{}).AtAddress(in.Budget); none != (plan.Saturation{}) {
		t.Errorf("of no tenant: %+v", none)
	}
}
