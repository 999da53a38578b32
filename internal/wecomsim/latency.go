package wecomsim

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// Latency is a log-normal distribution given by two of its quantiles. P99 0
// or equal to P50 is a constant; the zero value is no latency.
type Latency struct {
	P50 time.Duration
	P99 time.Duration
}

// z99 is the 99th percentile of the standard normal distribution.
const z99 = 2.3263478740408408

func (l Latency) validate() error {
	if l.P50 < 0 || l.P99 < 0 || (l.P99 > 0 && l.P99 < l.P50) || (l.P50 == 0 && l.P99 > 0) {
		return errors.New("latency: p50 and p99 must not be negative, p99 not below p50, and p50 not 0 beside a p99")
	}
	return nil
}

// draw returns one latency, at most ten times P99 so that no test waits for
// the tail of the tail.
func (l Latency) draw(normal float64) time.Duration {
	if l.P99 <= l.P50 {
		return l.P50
	}
	sigma := math.Log(float64(l.P99)/float64(l.P50)) / z99
	return time.Duration(min(float64(l.P50)*math.Exp(sigma*normal), 10*float64(l.P99)))
}

// dice is seeded randomness that goroutines may share.
type dice struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func newDice(seed uint64) *dice { return &dice{rng: rand.New(rand.NewPCG(seed, 0xd1ce))} }

func (d *dice) latency(l Latency) time.Duration {
	if l.P99 <= l.P50 {
		return l.P50
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return l.draw(d.rng.NormFloat64())
}

func (d *dice) intN(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(n)
}
