package config

import "time"

// Lane holds the rules by which a code's changes are pushed at once or at
// intervals. A tenant's whitelist and an operator's switch come before them.
type Lane struct {
	FastFor      time.Duration `envconfig:"ROLLCALL_LANE_FAST_FOR" default:"720h" accept:"0s..87600h" desc:"Codes created or edited within this time are pushed at once."`
	FastTiers    []string      `envconfig:"ROLLCALL_LANE_FAST_TIERS" accept:"names" shown:"none" desc:"Tenant tiers whose codes are always pushed at once."`
	SlowInterval time.Duration `envconfig:"ROLLCALL_LANE_SLOW_INTERVAL" default:"10m" accept:"1s..24h" desc:"Shortest time between two pushes of any other code."`
}
