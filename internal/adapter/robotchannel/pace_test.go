package robotchannel

import (
	"fmt"
	"testing"
	"time"
)

// Robots at rest are forgotten when there are many; one that is in use is not,
// or it would be given a second burst.
func TestOnlyRobotsAtRestAreForgotten(t *testing.T) {
	now := time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)
	p := newPace(func() time.Time { return now })
	for i := range maxRobots - 1 {
		p.admit(fmt.Sprint("robot-", i))
	}
	now = now.Add(time.Minute)
	for p.admit("busy") == 0 {
	}
	if n := len(p.robots); n != maxRobots {
		t.Fatalf("%d robots are known; want %d", n, maxRobots)
	}
	p.admit("one more")
	if n := len(p.robots); n != 2 {
		t.Errorf("%d robots are known; want the busy one and the new one", n)
	}
	if p.admit("busy") == 0 {
		t.Error("the busy robot was given another burst")
	}
}
