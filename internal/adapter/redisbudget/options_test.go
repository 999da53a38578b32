package redisbudget

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDefaultsFollowFromTheVendorsLimits(t *testing.T) {
	client, _ := miniClient(t)
	b := newBudget(t, client, Options{})
	tenant, address := b.Rate()
	if math.Abs(tenant-39.56) > 0.01 || math.Abs(address-161.27) > 0.01 {
		t.Errorf("rates %.2f and %.2f, want 39.56 and 161.27", tenant, address)
	}
	if c, r := b.tenant.common.burst, b.tenant.reserve.burst; c != 7275 || r != 225 {
		t.Errorf("bursts %d and %d, want 7275 and 225", c, r)
	}
}

func TestOptionsOutOfRangeAreNamed(t *testing.T) {
	tests := map[string]Options{
		"Prefix":                 {Prefix: "a{b}"},
		"Instances":              {Instances: -1},
		"RemovalShare":           {RemovalShare: 0.6},
		"IPReserveShare":         {IPReserveShare: -0.1},
		"SpareShare":             {SpareShare: 0.6},
		"CalmLevel":              {CalmLevel: 1.1},
		"Delay":                  {Delay: 400 * time.Millisecond},
		"WireTime":               {WireTime: -1},
		"MinUse":                 {MinUse: -1},
		"ParkAfter":              {ParkAfter: -1},
		"BlockFirst":             {BlockFirst: -1},
		"BlockAgain":             {BlockAgain: -1},
		"RepeatWithin":           {RepeatWithin: -1},
		"ConcurrencyHold":        {ConcurrencyHold: -1},
		"Timeout":                {Timeout: -1},
		"RetryAfter":             {RetryAfter: -1},
		"TenantBurst":            {TenantBurst: 1},
		"IPBurst":                {IPBurst: -4},
		"TenantWindows is empty": {TenantWindows: []Window{}},
		"TenantWindows[0].Per":   {TenantWindows: []Window{{10_000, 0}}},
		"IPWindows[1].Calls":     {IPWindows: []Window{{20_000, time.Minute}, {10_001, time.Hour}}},
	}
	for field, o := range tests {
		t.Run(field, func(t *testing.T) {
			client, _ := miniClient(t)
			_, err := New(client, o)
			if err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("error %v, want one that names %s", err, field)
			}
		})
	}
}

// However the limits are chosen, a pair's burst and what it accrues in a window
// and the delay stay within the window.
func TestPaceKeepsTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		burst, slack := rapid.IntRange(2, 5000).Draw(t, "burst"), rapid.IntRange(1, 50).Draw(t, "slack")
		windows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Window {
			return Window{
				Calls: burst + slack + rapid.IntRange(1, 100_000).Draw(t, "more"),
				Per:   time.Duration(rapid.IntRange(1, 3_600_000).Draw(t, "ms")) * time.Millisecond,
			}
		}), 1, 3).Draw(t, "windows")
		delay := time.Duration(rapid.IntRange(1, 5000).Draw(t, "delay")) * time.Millisecond
		p := paceOf(windows, burst, slack, delay, rapid.Float64Range(0.01, 0.5).Draw(t, "share"))
		for _, w := range windows {
			span := (w.Per + delay).Microseconds()
			accrued := float64(span)/float64(p.common.every) + float64(span)/float64(p.reserve.every)
			if got := float64(p.common.burst+p.reserve.burst+int64(slack)) + accrued; got > float64(w.Calls)+1e-6 {
				t.Fatalf("%v holds %.2f calls of %+v", w.Per, got, p)
			}
		}
	})
}
