package config

import "time"

// API says who may use the HTTP API how much.
type API struct {
	TokenFresh    time.Duration `envconfig:"ROLLCALL_API_TOKEN_FRESH" default:"30s" accept:"1s..10m" desc:"How long a token that was checked is taken for good: one that is revoked works for so long after, in each process."`
	TokenGrace    time.Duration `envconfig:"ROLLCALL_API_TOKEN_GRACE" default:"5m" accept:"0s..1h" desc:"How long after that it still counts while MongoDB cannot be asked."`
	TokensKept    int           `envconfig:"ROLLCALL_API_TOKENS_KEPT" default:"10000" accept:"100..1000000" desc:"Tokens remembered at once, and as many IDs that are none."`
	Rate          float64       `envconfig:"ROLLCALL_API_RATE" default:"100" accept:"0.1..1000000" desc:"Requests a second that one token may send in the long run, in each process."`
	Burst         int           `envconfig:"ROLLCALL_API_BURST" default:"500" accept:"1..1000000" desc:"Requests that one token may send at once."`
	DrawRate      float64       `envconfig:"ROLLCALL_API_DRAW_RATE" default:"20000" accept:"0.1..1000000" desc:"Draws a second that one token may ask for in the long run, in each process."`
	DrawBurst     int           `envconfig:"ROLLCALL_API_DRAW_BURST" default:"20000" accept:"1..1000000" desc:"Draws that one token may ask for at once."`
	ImportLimitMB int           `envconfig:"ROLLCALL_API_IMPORT_LIMIT_MB" default:"64" accept:"1..4096" desc:"Largest body of an import, in MiB."`
}
