package config

import "time"

// Spot says how many codes are compared with what WeCom holds.
type Spot struct {
	Share  float64       `envconfig:"ROLLCALL_SPOT_SHARE" default:"0.01" accept:"0..1" desc:"The part of all codes that each pass of the audit asks WeCom about, if budget is spare; 0 asks about none, 1 about all."`
	Policy string        `envconfig:"ROLLCALL_SPOT_POLICY" default:"repair" accept:"oneof:report|repair" desc:"What follows when WeCom holds another list than ours: report stores the difference for a person, repair also has the code pushed again."`
	Settle time.Duration `envconfig:"ROLLCALL_SPOT_SETTLE" default:"10s" accept:"100ms..1h" desc:"How long after a push a code is not asked about: WeCom does not say when an update can be read back."`
}
