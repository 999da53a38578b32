package config

import "time"

// Keeper says how the keepers share their role, and what they may use.
type Keeper struct {
	LeaseTTL   time.Duration `envconfig:"ROLLCALL_KEEPER_LEASE_TTL" default:"6s" accept:"1s..5m" desc:"How long a keeper that says nothing any more keeps the role. The next one takes over that long after it died, and at once when it stopped in order."`
	LeaseRenew time.Duration `envconfig:"ROLLCALL_KEEPER_LEASE_RENEW" default:"2s" accept:"100ms..1m" desc:"How often the keeper at work says that it is there. It stops working when it could not for two thirds of the time above."`
	Heartbeat  time.Duration `envconfig:"ROLLCALL_KEEPER_HEARTBEAT" default:"2s" accept:"200ms..1m" desc:"How often a message that says nothing is published on every partition. A broker can forget to hand out what it has to hand out again, until the next message comes: on a quiet topic such an event waits this long at most."`
	MendShare  float64       `envconfig:"ROLLCALL_KEEPER_MEND_SHARE" default:"0.1" accept:"0.01..1" desc:"The part of a tenant's pace (ROLLCALL_BUDGET_*) at which codes with something to mend come back from the dirty set: those that failed, and what the audit found. Codes that only had to wait come back at the whole pace."`
	Confirm    time.Duration `envconfig:"ROLLCALL_KEEPER_CONFIRM" default:"30s" accept:"1s..10m" desc:"How long after its event a dirty code is compared with its facts, to leave the dirty set or to be published again. It doubles with each attempt, up to 10 minutes."`
	Census     time.Duration `envconfig:"ROLLCALL_KEEPER_CENSUS" default:"30s" accept:"200ms..10m" desc:"How often the dirty set is counted for the metrics."`
	Watch      time.Duration `envconfig:"ROLLCALL_KEEPER_WATCH" default:"10s" accept:"200ms..10m" desc:"How often the broker is asked for the subscription's figures, for the metrics. It is not asked without ROLLCALL_PULSAR_ADMIN_URL."`
}

func (k Keeper) rules() []contradiction {
	return []contradiction{{
		names:   []string{"ROLLCALL_KEEPER_LEASE_RENEW", "ROLLCALL_KEEPER_LEASE_TTL"},
		broken:  3*k.LeaseRenew > k.LeaseTTL,
		because: "one renewal that fails would cost the role, so the first must be a third of the second at most",
	}}
}
