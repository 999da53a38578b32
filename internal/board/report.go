package board

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Role is what a process does.
type Role string

// The roles.
const (
	Refresher Role = "refresher"
	Ingress   Role = "ingress"
	Keeper    Role = "keeper"
)

// How reports are told, and until when they count.
const (
	// Every is the time between two reports of a process.
	Every = 5 * time.Second
	// SilentAfter is the age of the last report from which a process counts as
	// silent: four reports are missing.
	SilentAfter = 4 * Every
	// ForgottenAfter is how long a process that ended without a word is
	// remembered. One that is stopped takes its report away.
	ForgottenAfter = 15 * time.Minute
	// MostTenants is how many tenants a report names.
	MostTenants = 10
)

// Report is what one process says of itself.
type Report struct {
	Instance string    `json:"instance"` // unique among the processes of a role
	Role     Role      `json:"role"`
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`
	At       time.Time `json:"at"`
	// Missing are the servers that did not answer it at the last try, by the
	// names of /readyz.
	Missing []Missing `json:"missing,omitempty"`
	// Leads says that a keeper holds the keepers' lease.
	Leads bool  `json:"leads,omitempty"`
	Work  *Work `json:"work,omitempty"` // of a refresher
}

// Missing is a server that a process cannot reach.
type Missing struct {
	Name  string `json:"name"` // mongodb, redis or pulsar
	Cause string `json:"cause"`
}

// Work is what a refresher holds and has done.
type Work struct {
	Runnable int                   `json:"runnable"` // codes in line for a worker
	InFlight int                   `json:"in_flight"`
	Held     map[reason.Reason]int `json:"held"`    // codes that wait for a deadline, by cause
	Limit    int                   `json:"limit"`   // most codes that may be here
	Workers  int                   `json:"workers"` // most codes in flight
	// Load is the share of the workers that the work at hand could keep busy; it
	// may exceed 1.
	Load     float64      `json:"load"`
	Tenants  int          `json:"tenants"` // with codes here
	Top      []TenantWork `json:"top"`     // with most codes that wait, most first; at most MostTenants
	LastFive Activity     `json:"last_5m"`
	LastHour Activity     `json:"last_hour"`
}

// HeldSum is how many codes are held.
func (w Work) HeldSum() int { return sum(w.Held) }

// TenantWork is what refreshers hold of one tenant.
type TenantWork struct {
	Tenant   string                `json:"tenant"`
	Runnable int                   `json:"runnable"`
	InFlight int                   `json:"in_flight"`
	Held     map[reason.Reason]int `json:"held"` // by cause
}

// Waiting is how many codes wait for a worker or for their deadline.
func (t TenantWork) Waiting() int { return t.Runnable + sum(t.Held) }

// Activity is what was done in a span of time.
type Activity struct {
	// Promised, Throttled and Slow are the pushes that WeCom confirmed, by how
	// old their earliest event was: those that the objective is about (fast
	// lane, not held up by a throttle), those that waited for vendor budget, and
	// those of the slow lane.
	Promised  Freshness `json:"promised"`
	Throttled Freshness `json:"throttled"`
	Slow      Freshness `json:"slow"`
	// Accounted is how many refreshes ended with the list as the facts ask, or
	// for a reason that lies outside and has a pace of its own.
	Accounted int `json:"accounted"`
	// Busy is the least number of codes in line or in flight at any report of the
	// span: above 0, there was work all the time.
	Busy     int                   `json:"busy"`
	Calls    int                   `json:"calls"`    // to WeCom, with whatever answer
	Refusals map[reason.Reason]int `json:"refusals"` // by the vendor budget, by cause
	Errors   map[reason.Reason]int `json:"errors"`   // of the calls, by class
	Panics   int                   `json:"panics"`
}

// add counts others' doings too.
func (a *Activity) add(other Activity) {
	a.Promised.Add(other.Promised)
	a.Throttled.Add(other.Throttled)
	a.Slow.Add(other.Slow)
	a.Accounted += other.Accounted
	a.Busy += other.Busy
	a.Calls += other.Calls
	a.Panics += other.Panics
	a.Refusals = added(a.Refusals, other.Refusals)
	a.Errors = added(a.Errors, other.Errors)
}

func added(to, other map[reason.Reason]int) map[reason.Reason]int {
	if to == nil {
		to = make(map[reason.Reason]int, len(other))
	}
	for cause, n := range other {
		to[cause] += n
	}
	return to
}

func sum(by map[reason.Reason]int) int {
	n := 0
	for _, of := range by {
		n += of
	}
	return n
}
