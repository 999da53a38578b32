package robotchannel

import (
	"crypto/sha256"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A robot shows 20 messages in any minute (page 91770). A bucket of burst and a
// minute's refill never holds more than burst + refill in a minute.
const (
	burst     = 5
	perMinute = 15
)

// maxRobots is how many robots are remembered before those at rest are
// forgotten.
const maxRobots = 4096

// pace keeps the messages of each robot below what it shows. A robot is known
// by a hash of its key. It is safe for concurrent use.
type pace struct {
	now func() time.Time

	mu     sync.Mutex
	robots map[[sha256.Size]byte]*rate.Limiter
}

func newPace(now func() time.Time) *pace {
	return &pace{now: now, robots: map[[sha256.Size]byte]*rate.Limiter{}}
}

// admit takes the place of a message, or returns how long there is none.
func (p *pace) admit(key string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	place := p.robot(sha256.Sum256([]byte(key)), now).ReserveN(now, 1)
	wait := place.DelayFrom(now)
	if wait > 0 {
		place.CancelAt(now)
	}
	return wait
}

// robot returns a robot's bucket, a full one when it is not known.
func (p *pace) robot(id [sha256.Size]byte, now time.Time) *rate.Limiter {
	if known := p.robots[id]; known != nil {
		return known
	}
	if len(p.robots) >= maxRobots {
		p.forget(now)
	}
	fresh := rate.NewLimiter(rate.Limit(perMinute)/60, burst)
	p.robots[id] = fresh
	return fresh
}

// forget drops the robots whose bucket is full: a new one would be the same.
func (p *pace) forget(now time.Time) {
	for id, robot := range p.robots {
		if robot.TokensAt(now) >= burst {
			delete(p.robots, id)
		}
	}
}
