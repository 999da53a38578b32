package board

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Seconds is a length of time as JSON has it.
type Seconds float64

// SecondsOf converts.
func SecondsOf(d time.Duration) Seconds { return Seconds(d.Seconds()) }

// Duration converts back.
func (s Seconds) Duration() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

// View is an installation at one look. A part that is nil could not be read, and
// Unread says why.
type View struct {
	At        time.Time  `json:"at"`
	Incidents []Incident `json:"incidents"` // those that page first
	Unread    []Unread   `json:"unread"`
	// Instances are the processes that report, by role and name.
	Instances []Instance  `json:"instances"`
	Freshness *Objectives `json:"freshness"`
	Work      *Totals     `json:"work"`
	Dirty     *DirtySet   `json:"dirty"`
	Broker    *Broker     `json:"broker"`
	Budget    *Budget     `json:"budget"`
	FanOuts   *FanOuts    `json:"fan_outs"`
}

// Part names a part of a View.
type Part string

// The parts that are read, each on its own.
const (
	PartBoard   Part = "board"    // the processes' reports, in Redis: Instances, Freshness, Work
	PartBudget  Part = "budget"   // Redis
	PartDirty   Part = "dirty"    // MongoDB
	PartFanOuts Part = "fan_outs" // MongoDB
	PartBroker  Part = "broker"   // the broker's admin API
)

// Unread is a part that could not be read.
type Unread struct {
	Part  Part   `json:"part"`
	Cause string `json:"cause"`
	// Unset says that nothing is wrong: the part needs a setting that is not
	// there.
	Unset bool `json:"unset,omitempty"`
}

// Instance is one process.
type Instance struct {
	Instance string    `json:"instance"`
	Role     Role      `json:"role"`
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`
	Heard    time.Time `json:"heard"` // its last report
	Silent   bool      `json:"silent"`
	Leads    bool      `json:"leads,omitempty"` // it is the keeper at work
	Load     float64   `json:"load,omitempty"`  // of a refresher
	InFlight int       `json:"in_flight,omitempty"`
	Workers  int       `json:"workers,omitempty"`
	Missing  []Missing `json:"missing,omitempty"`
}

// Objectives is how old the facts were that pushes brought to WeCom.
type Objectives struct {
	LastFive Kept `json:"last_5m"`
	LastHour Kept `json:"last_hour"`
	// Throttled and Slow are those of the last hour that the objective is not
	// about.
	Throttled Quantiles `json:"throttled"`
	Slow      Quantiles `json:"slow"`
}

// Kept is whether the objective is kept over a span of time.
type Kept struct {
	Quantiles
	Late int `json:"late"` // took longer than Within
	// Share is the part (0..1) that came within the objective's time; 1 without
	// a push.
	Share float64 `json:"share"`
	// BudgetLeft is the part of the late pushes the objective allows over the
	// span that is not used up; 1 is all of it, below 0 more than that is used.
	BudgetLeft float64 `json:"budget_left"`
}

// Quantiles of a number of pushes, as near as the buckets tell.
type Quantiles struct {
	Count int     `json:"count"`
	P50   Seconds `json:"p50_seconds"`
	P95   Seconds `json:"p95_seconds"`
	P99   Seconds `json:"p99_seconds"`
}

// Totals is the work of all refreshers that are heard.
type Totals struct {
	Refreshers int                   `json:"refreshers"`
	Runnable   int                   `json:"runnable"`
	InFlight   int                   `json:"in_flight"`
	Workers    int                   `json:"workers"`
	HeldSum    int                   `json:"held_sum"`
	Held       map[reason.Reason]int `json:"held"`  // by cause
	Limit      int                   `json:"limit"` // most codes that may be in all refreshers
	Load       float64               `json:"load"`  // the mean of the refreshers'
	Top        []TenantWork          `json:"top"`   // tenants with most codes that wait, most first
	LastFive   Activity              `json:"last_5m"`
	LastHour   Activity              `json:"last_hour"`
}

// DirtySet is what could not be finished.
type DirtySet struct {
	Codes   int           `json:"codes"`
	Reasons []DirtyReason `json:"reasons"` // most codes first
}

// DirtyReason is the dirty codes of one reason.
type DirtyReason struct {
	Reason  reason.Reason `json:"reason"`
	Codes   int           `json:"codes"`
	Oldest  time.Time     `json:"oldest"`  // when the oldest was marked first
	Repairs bool          `json:"repairs"` // there is something to mend; else they wait
}

// Broker is what the broker says of the subscription.
type Broker struct {
	Topic        string     `json:"topic"`
	Subscription string     `json:"subscription"`
	Backlog      int64      `json:"backlog"`         // messages that are not acked
	Unacked      int64      `json:"unacked"`         // of these, delivered to a refresher
	InReplay     int64      `json:"in_replay"`       // wait for redelivery
	Oldest       time.Time  `json:"oldest,omitzero"` // when the oldest was published; zero for none
	AckHoles     int64      `json:"ack_holes"`       // acked ranges beyond the first that is not
	Draining     int64      `json:"draining_hashes"` // hashes that wait for an old owner's acks
	Blocked      bool       `json:"blocked"`         // a consumer, or the subscription, gets no more
	DeadLetters  int64      `json:"dead_letters"`    // that nobody has dealt with
	Consumers    []Consumer `json:"consumers"`       // by name
}

// Consumer is one refresher as the broker sees it, over all partitions.
type Consumer struct {
	Name     string  `json:"name"`
	Unacked  int64   `json:"unacked"`
	Draining int64   `json:"draining_hashes"`
	Blocked  bool    `json:"blocked"`
	Keys     float64 `json:"keys"` // the share (0..1) of all hashes whose codes come to it
}

// Budget is what tenants use of WeCom's limits.
type Budget struct {
	MinuteLimit int         `json:"minute_limit"` // calls of a tenant
	HourLimit   int         `json:"hour_limit"`
	Hottest     []TenantUse `json:"hottest"` // blocked ones first, then most calls first
}

// TenantUse is one tenant's calls.
type TenantUse struct {
	Tenant       string    `json:"tenant"`
	Minute       int       `json:"minute"`  // calls in the current minute, or the one before when they were more
	Hour         int       `json:"hour"`    // calls in the last 60 minutes
	Refused      int       `json:"refused"` // asks in the last 60 minutes that had to wait
	BlockedUntil time.Time `json:"blocked_until,omitzero"`
}

// Minute is what a tenant asked of its budget in one minute.
type Minute struct {
	At      time.Time `json:"at"` // its begin
	Granted int       `json:"granted"`
	Refused int       `json:"refused"`
}

// FanOuts are the recomputations of many codes that are under way.
type FanOuts struct {
	Running int      `json:"running"`
	Shown   []FanOut `json:"shown"` // the oldest
}

// FanOut is one of them.
type FanOut struct {
	ID        string    `json:"id"`
	Tenant    string    `json:"tenant"`
	Staff     string    `json:"staff,omitempty"` // "" when it is about the tenant
	Why       string    `json:"why"`
	State     string    `json:"state"`
	Requested time.Time `json:"requested"`
	Done      int       `json:"done"`
	Total     int       `json:"total"` // grows while the codes are listed
	// Left is how long the rest takes at the rate so far; LeftKnown says that
	// there is one.
	Left      Seconds `json:"left_seconds"`
	LeftKnown bool    `json:"left_known"`
}
