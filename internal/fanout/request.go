package fanout

import (
	"context"
	"time"
)

// Scope says which codes a fan-out is about.
type Scope struct {
	Tenant string
	Staff  string // a staff ID; "" is every code of the tenant
}

// Request asks that every code of a scope be recomputed. A request for a scope
// whose fan-out is running supersedes it: what was left of the older one is
// part of the newer one.
type Request struct {
	Scope
	// Why is the word for what happened, such as "staff_resigned": 1 to 64
	// bytes. It becomes the reason of the events.
	Why string
	At  time.Time
	// Key makes the request idempotent: a repeat with the key of the newest
	// request of its scope starts nothing. "" never repeats.
	Key string
}

// Ticket names a fan-out that was requested.
type Ticket struct {
	ID    string
	Epoch int64 // grows with every request for the scope
}

// Requester takes requests. When it returns nil the fan-out is durable: it will
// be done, whoever dies.
type Requester interface {
	Request(ctx context.Context, request Request) (Ticket, error)
}
