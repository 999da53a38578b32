package roster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// BenchmarkDecide decides a code of 100 members, the most that WeCom takes.
func BenchmarkDecide(b *testing.B) {
	plain := bigCode(roster.Native, nil)
	rotating := bigCode(roster.Sequenced, nil)
	holidays := map[roster.Day][]roster.Shift{}
	for day := 1; day <= 10; day++ {
		holidays[roster.Day(fmt.Sprintf("202605%02d", day))] = nil
	}
	special := bigCode(roster.Native, holidays)
	for _, c := range []struct {
		name  string
		facts roster.Facts
	}{{"native", plain}, {"sequenced", rotating}, {"ten_special_days_each", special}} {
		b.Run(c.name, func(b *testing.B) {
			at := time.Date(2026, 3, 2, 2, 0, 0, 0, time.UTC)
			first, err := roster.Decide(c.facts, roster.Last{}, roster.LaneRules{}, at)
			if err != nil {
				b.Fatal(err)
			}
			last := asLast(first, c.facts, at)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := roster.Decide(c.facts, last, roster.LaneRules{}, at); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// bigCode has every rule switched on and a schedule for everybody.
func bigCode(family roster.Family, special map[roster.Day][]roster.Shift) roster.Facts {
	weekly := [7][]roster.Shift{}
	for day := 1; day <= 5; day++ {
		weekly[day] = []roster.Shift{{From: 9 * 60, To: 12 * 60}, {From: 13 * 60, To: 18 * 60}}
	}
	f := roster.Facts{
		Code: roster.Code{
			ID: "code", Family: family, Revision: 3, Remark: "spring campaign", State: "c-1024",
			Switches: roster.Switches{OfflineCheck: true, AddLimit: true, DailyLimit: true, RoundLimit: true},
		},
		Tenant: roster.Tenant{DailyTotal: 200},
		Staff:  map[string]roster.Staff{},
		Counters: roster.Counters{
			Total: map[string]int{}, InRound: map[string]int{}, Days: map[roster.Day]map[string]int{"20260302": {}},
		},
	}
	for i := range roster.MaxListed {
		id := fmt.Sprintf("staff-%04d", i*7919%1000)
		f.Code.Members = append(f.Code.Members, roster.Member{Staff: id, AddLimit: 1000, DailyLimit: 50, RoundLimit: 20})
		f.Staff[id] = roster.Staff{
			ID: id, Schedule: &roster.Schedule{Weekly: weekly, Special: special},
			Added: map[roster.Day]int{"20260302": i, "20260301": 4},
		}
		f.Counters.Total[id], f.Counters.InRound[id], f.Counters.Days["20260302"][id] = 5*i, i%20, i%50
	}
	return f
}
