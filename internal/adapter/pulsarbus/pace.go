package pulsarbus

import (
	"math/rand/v2"
	"time"
)

const minPace = 100 * time.Millisecond

// pace spaces attempts: the wait doubles from minPace to most, less up to a
// fifth, so that consumers that lost one broker do not come back in step.
type pace struct {
	most time.Duration
	last time.Duration
}

func (p *pace) next() time.Duration {
	p.last = min(max(2*p.last, minPace), p.most)
	return p.last - rand.N(p.last/5+1)
}

func (p *pace) reset() { p.last = 0 }
