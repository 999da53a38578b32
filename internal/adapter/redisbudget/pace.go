package redisbudget

import (
	"math"
	"time"
)

// lane is one GCRA bucket in whole microseconds, the unit of the scripts.
type lane struct {
	every int64 // between two calls at the sustained rate
	burst int64 // calls of a full bucket
}

// depth is how far ahead of the clock a bucket without a call left stands.
func (l lane) depth() int64 { return l.every * l.burst }

// pair is the common bucket and its reserve.
type pair struct {
	common, reserve lane
	rate            float64 // calls a second of both
	burst           int     // calls of both
}

// paceOf derives the rate from the windows, burst + slack + rate·(Per + delay)
// <= Calls for each, and splits it. slack is what the instances may add while
// they pace themselves without Redis. Rounding always goes to the slower side.
func paceOf(windows []Window, burst, slack int, delay time.Duration, reserve float64) pair {
	rate := math.Inf(1)
	for _, w := range windows {
		rate = min(rate, float64(w.Calls-burst-slack)/(w.Per+delay).Seconds())
	}
	kept := max(1, int(float64(burst)*reserve))
	return pair{
		common:  lane{every: micros(rate * (1 - reserve)), burst: int64(burst - kept)},
		reserve: lane{every: micros(rate * reserve), burst: int64(kept)},
		rate:    rate,
		burst:   burst,
	}
}

// spareBurst is how many seconds' worth of spare calls may go at once. Tenants that
// ask at the same time, and are refused by the address, have lost their turn; a
// smaller burst would leave most of the share unused.
const spareBurst = 10

// spare is the pace of the calls that nobody waits for: a share of the rate.
func (p pair) spare(share float64) lane {
	rate := p.rate * share
	return lane{every: micros(rate), burst: max(1, int64(spareBurst*rate))}
}

func micros(perSecond float64) int64 { return int64(math.Ceil(1e6 / perSecond)) }
