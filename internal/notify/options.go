package notify

import (
	"log/slog"
	"time"
)

// Options of a Dispatcher. All are required.
type Options struct {
	// Owner names this dispatcher, for a person and as part of the condition of
	// its changes.
	Owner string
	// DailyPool is the pool of a tenant that sets none, 1 to MaxDailyPool.
	DailyPool int
	// SendTimeout bounds one attempt of a Sender.
	SendTimeout time.Duration
	// Grace is how long attempts under way may go on when the dispatcher has
	// to stop.
	Grace time.Duration
	// Margin is how long past the time that its work may take a row is left to
	// its owner: for slow writes and for clocks that differ.
	Margin time.Duration
	// LaneWidth is how many deliveries of a lane are sent at once, Lanes how
	// many lanes are worked on at once.
	LaneWidth, Lanes int
	Retries          Retries
	Now              func() time.Time
	Logger           *slog.Logger
}

const (
	// turnFor is how long a lane is worked on before another one may have its
	// place. The sends that were begun by then are awaited.
	turnFor = time.Second
	// pauseFor is how long a lane rests whose tenant's channels cannot be read.
	pauseFor = 30 * time.Second
	// writeTimeout bounds the write of what became of an attempt, which goes on
	// when the dispatcher has to stop; writeTries is how often it is made.
	writeTimeout = 5 * time.Second
	writeTries   = 3
)
