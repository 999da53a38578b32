//go:build integration

package overload_test

import (
	"flag"
	"strconv"
	"time"
)

// How large the tests are: short (the default, about a minute each), full
// (minutes), or the storm with WeCom's real limits.
var (
	wantFull = flag.Bool("full", false, "the full storm and a minute without Redis")
	wantLong = flag.Bool("long", false, "the full storm at WeCom's real limits: an hour and a half")
)

// windows are WeCom's limits on one API and what Rollcall makes of them.
type windows struct {
	minute, hour       time.Duration
	perMinute, perHour int
	burst              int
	delay              time.Duration // from an admission to the wire
	parkAfter, maxHold time.Duration
	maxHeld            int
}

// rate is the calls a second that the windows leave, after a whole burst.
func (w windows) rate(instances int) float64 {
	rate := func(calls int, per time.Duration) float64 {
		return float64(calls-w.burst-instances) / (per + w.delay).Seconds()
	}
	return min(rate(w.perMinute, w.minute), rate(w.perHour, w.hour))
}

func (w windows) env(instances int) []string {
	const ipFactor = 20 // no tenant ever meets another on the address
	return []string{
		"ROLLCALL_BUDGET_MINUTE=" + w.minute.String(),
		"ROLLCALL_BUDGET_HOUR=" + w.hour.String(),
		"ROLLCALL_BUDGET_TENANT_PER_MINUTE=" + strconv.Itoa(w.perMinute),
		"ROLLCALL_BUDGET_TENANT_PER_HOUR=" + strconv.Itoa(w.perHour),
		"ROLLCALL_BUDGET_TENANT_BURST=" + strconv.Itoa(w.burst),
		"ROLLCALL_BUDGET_IP_PER_MINUTE=" + strconv.Itoa(w.perMinute*ipFactor),
		"ROLLCALL_BUDGET_IP_PER_HOUR=" + strconv.Itoa(w.perHour*ipFactor),
		"ROLLCALL_BUDGET_IP_BURST=" + strconv.Itoa(w.burst*ipFactor),
		"ROLLCALL_BUDGET_DELAY=" + w.delay.String(),
		"ROLLCALL_BUDGET_INSTANCES=" + strconv.Itoa(instances),
		"ROLLCALL_KEEPER_CONFIRM=2s",
		"ROLLCALL_AUDIT_RATE=1", // what is measured is the storm; a page costs the stand-in a scan
		"ROLLCALL_REFRESHER_PARK_AFTER=" + w.parkAfter.String(),
		"ROLLCALL_REFRESHER_MAX_HOLD=" + w.maxHold.String(),
		"ROLLCALL_REFRESHER_MAX_HELD=" + strconv.Itoa(w.maxHeld),
	}
}

// form is one of the three.
type form[F any] struct{ short, full, long F }

// chosen returns the form that the command line asks for.
func (f form[F]) chosen() F {
	switch {
	case *wantLong:
		return f.long
	case *wantFull:
		return f.full
	}
	return f.short
}
