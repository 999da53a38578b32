package redisbudget

import (
	"fmt"
	"testing"
	"time"
)

// scaled are WeCom's limits with a hundredth of the calls and a tenth of the
// time: the same shape in few script calls.
func scaled() Options {
	return Options{
		TenantWindows: []Window{{100, 6 * time.Second}, {1500, 6 * time.Minute}}, TenantBurst: 75,
		IPWindows: []Window{{2000, 6 * time.Second}, {60_000, 6 * time.Minute}}, IPBurst: 1000,
		Delay: 200 * time.Millisecond, WireTime: 30 * time.Millisecond, MinUse: 20 * time.Millisecond,
		ParkAfter: 12 * time.Second,
	}
}

// Demand of five times the rate, for two of the long windows.
func TestConstantDemandUsesTheWindowAndNeverExceedsIt(t *testing.T) {
	for _, removals := range []float64{0, 0.02, 0.3} {
		t.Run(fmt.Sprintf("removals %v", removals), func(t *testing.T) {
			t.Parallel()
			client, _ := miniClient(t)
			w := newWorld(t, client, scaled(), 3, 1)
			w.late = 20 * time.Millisecond
			rate, _ := w.instances[0].Rate()
			w.demand("corp", 400, 5*rate, removals)
			w.run(13 * time.Minute)
			w.check()
			hour := w.opts.TenantWindows[1]
			steady := float64(between(w.calls["corp"], epoch.Add(hour.Per), hour.Per)) / float64(hour.Calls)
			t.Logf("%d calls, steady %.4f of the hour, fullest %.4f, asks a call %.2f",
				len(w.all), steady, fullest(w.all, hour), float64(w.asks)/float64(len(w.all)))
			if steady < 0.94 {
				t.Errorf("used %.4f of the hour, want 0.94 or more", steady)
			}
			if perCall := float64(w.asks) / float64(len(w.all)); perCall > 2.2 {
				t.Errorf("%.2f asks a call, want one refusal and one admission", perCall)
			}
		})
	}
}
