package config

import "time"

// Audit says how the backstop walks over all codes. Each keeper walks, the one
// that stands by too.
type Audit struct {
	Rate  float64       `envconfig:"ROLLCALL_AUDIT_RATE" default:"250" accept:"1..100000" desc:"How many codes a second each keeper compares with their facts."`
	Every time.Duration `envconfig:"ROLLCALL_AUDIT_EVERY" default:"1h" accept:"1s..168h" desc:"The time from the beginning of one pass over all codes to that of the next at least; a pass that takes longer is followed by the next at once."`
	Bound time.Duration `envconfig:"ROLLCALL_AUDIT_BOUND" default:"1m" accept:"1s..1h" desc:"The freshness bound: a difference between a code and its facts that is there at two looks this far apart is a fault, and the code becomes dirty."`
	Chunk int           `envconfig:"ROLLCALL_AUDIT_CHUNK" default:"500" accept:"1..10000" desc:"How many codes are claimed and read at once."`
}
