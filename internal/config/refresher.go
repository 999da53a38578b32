package config

import "time"

// Refresher bounds what one consumer does at once and how long a code waits
// in it.
type Refresher struct {
	Workers        int           `envconfig:"ROLLCALL_REFRESHER_WORKERS" default:"64" accept:"1..2048" desc:"Codes worked on at once."`
	TenantInFlight int           `envconfig:"ROLLCALL_REFRESHER_TENANT_IN_FLIGHT" default:"8" accept:"1..2048" desc:"Codes of one tenant worked on at once, before WeCom's own limit on concurrency (45033) lowers it."`
	MaxHeld        int           `envconfig:"ROLLCALL_REFRESHER_MAX_HELD" default:"10000" accept:"1..40000" desc:"Codes that may be un-acked in this consumer; three quarters of them may wait for a slot or a backoff. More go to the dirty set."`
	MaxHold        time.Duration `envconfig:"ROLLCALL_REFRESHER_MAX_HOLD" default:"15s" accept:"100ms..1m" desc:"Longest single hold; a longer wait is several. A held message keeps its hash range from moving to a new consumer."`
	ParkAfter      time.Duration `envconfig:"ROLLCALL_REFRESHER_PARK_AFTER" default:"2m" accept:"1s..1h" desc:"A wait longer than this goes to the dirty set instead of being held."`
	Recheck        time.Duration `envconfig:"ROLLCALL_REFRESHER_RECHECK" default:"1s" accept:"10ms..1m" desc:"How soon a newer event brings a waiting code forward; doubled each time that the code has to wait again. A failure's backoff is never shortened."`
	MaxFailures    int           `envconfig:"ROLLCALL_REFRESHER_MAX_FAILURES" default:"8" accept:"1..100" desc:"Failures in a row after which a code goes to the dirty set."`
	BackoffBase    time.Duration `envconfig:"ROLLCALL_REFRESHER_BACKOFF_BASE" default:"500ms" accept:"10ms..1m" desc:"Wait after the first failure; doubled by each further one, with jitter."`
	BackoffCap     time.Duration `envconfig:"ROLLCALL_REFRESHER_BACKOFF_CAP" default:"15s" accept:"100ms..1h" desc:"Longest wait after a failure."`
	IntentMargin   time.Duration `envconfig:"ROLLCALL_REFRESHER_INTENT_MARGIN" default:"5s" accept:"100ms..5m" desc:"Time after the deadline of an announced push during which it may still reach WeCom: the skew of clocks and the wire."`
	DrainTimeout   time.Duration `envconfig:"ROLLCALL_REFRESHER_DRAIN_TIMEOUT" default:"20s" accept:"1s..10m" desc:"Longest time to end the work in hand when asked to stop. Kubernetes' grace period has to be longer than three times this and 5 s."`
	Instance       string        `envconfig:"ROLLCALL_REFRESHER_INSTANCE" accept:"name" shown:"host name and process ID" desc:"A name for this process in announcements of pushes and in logs; unique among the instances."`
}

func (r Refresher) rules() []contradiction {
	return []contradiction{
		{
			names:   []string{"ROLLCALL_REFRESHER_TENANT_IN_FLIGHT", "ROLLCALL_REFRESHER_WORKERS"},
			broken:  r.TenantInFlight > r.Workers,
			because: "the first can never be reached, so it must not be larger",
		},
		{
			names:   []string{"ROLLCALL_REFRESHER_MAX_HOLD", "ROLLCALL_REFRESHER_PARK_AFTER"},
			broken:  r.MaxHold >= r.ParkAfter,
			because: "no wait would ever be held again, so the first has to be shorter",
		},
		{
			names:   []string{"ROLLCALL_REFRESHER_RECHECK", "ROLLCALL_REFRESHER_MAX_HOLD"},
			broken:  r.Recheck > r.MaxHold,
			because: "the first must not be longer",
		},
		{
			names:   []string{"ROLLCALL_REFRESHER_BACKOFF_BASE", "ROLLCALL_REFRESHER_BACKOFF_CAP"},
			broken:  r.BackoffBase > r.BackoffCap,
			because: "the first must not be longer",
		},
	}
}
