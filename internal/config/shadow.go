package config

import "time"

// Shadow says how the lists of codes in shadow mode are compared.
type Shadow struct {
	Settle time.Duration `envconfig:"ROLLCALL_SHADOW_SETTLE" default:"30s" accept:"1s..1h" desc:"How long neither Rollcall's list of a code nor the other system's may have changed before the two are compared: a difference that heals sooner is none."`
}
