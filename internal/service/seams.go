package service

import (
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
)

// Seams let a test binary stand between a process and the outside world: each
// function is given a port as it is wired and returns what is used in its
// place. A nil function leaves its port alone. A product process passes none.
type Seams struct {
	Subscription func(intake.Subscription) intake.Subscription
	Store        func(push.Store) push.Store
	Rotation     func(push.Rotation) push.Rotation
	Budget       func(push.Budget) push.Budget
	Vendor       func(push.Vendor) push.Vendor
	Journal      func(push.Journal) push.Journal
	Dirty        func(push.Dirty) push.Dirty
	Quota        func(quota.Ports) quota.Ports
	FanOut       func(fanout.Ports) fanout.Ports
}

// through returns the port with the seams' decorators around it; those of the
// last are outermost.
func through[T any](port T, seams []Seams, pick func(Seams) func(T) T) T {
	for _, s := range seams {
		if decorate := pick(s); decorate != nil {
			port = decorate(port)
		}
	}
	return port
}

// decoratedPush puts the seams around what the protocol is given.
func decoratedPush(ports push.Ports, seams []Seams) push.Ports {
	ports.Store = through(ports.Store, seams, func(s Seams) func(push.Store) push.Store { return s.Store })
	ports.Rotation = through(ports.Rotation, seams, func(s Seams) func(push.Rotation) push.Rotation { return s.Rotation })
	ports.Budget = through(ports.Budget, seams, func(s Seams) func(push.Budget) push.Budget { return s.Budget })
	ports.Vendor = through(ports.Vendor, seams, func(s Seams) func(push.Vendor) push.Vendor { return s.Vendor })
	ports.Journal = through(ports.Journal, seams, func(s Seams) func(push.Journal) push.Journal { return s.Journal })
	return ports
}

// decoratedIntake puts the seams around what the intake is given.
func decoratedIntake(ports intake.Ports, seams []Seams) intake.Ports {
	ports.Subscription = through(ports.Subscription, seams, func(s Seams) func(intake.Subscription) intake.Subscription { return s.Subscription })
	ports.Dirty = through(ports.Dirty, seams, func(s Seams) func(push.Dirty) push.Dirty { return s.Dirty })
	return ports
}
