package pushtest

import (
	"sync"
	"time"
)

// Clock is a clock that moves when it is told to. Its Now method is what the
// code under test gets as its clock.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows start.
func NewClock(start time.Time) *Clock { return &Clock{now: start} }

// Now returns the instant shown.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d and returns the new instant.
func (c *Clock) Advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// Set moves the clock to t.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}
