package config

import "time"

// Ingress says how the HTTP side is served and how fan-outs are paced.
type Ingress struct {
	Addr            string        `envconfig:"ROLLCALL_INGRESS_ADDR" default:":8080" accept:"address" desc:"Where callbacks, the API, draws and landing pages are served. TLS is ended before it."`
	CallbackTimeout time.Duration `envconfig:"ROLLCALL_INGRESS_CALLBACK_TIMEOUT" default:"4500ms" accept:"100ms..4900ms" desc:"Longest work on one callback. WeCom waits 5 s for the answer."`
	CallbackMaxAge  time.Duration `envconfig:"ROLLCALL_INGRESS_CALLBACK_MAX_AGE" default:"10m" accept:"10s..24h" desc:"How far a callback's signed time may be from now; an older one is a replay."`
	CallbackPlaces  int           `envconfig:"ROLLCALL_INGRESS_CALLBACK_PLACES" default:"32" accept:"1..1000" desc:"Callbacks of one tenant worked on at once, in this process."`
	CallbackWaiting int           `envconfig:"ROLLCALL_INGRESS_CALLBACK_WAITING" default:"1000" accept:"0..100000" desc:"Callbacks of one tenant that may wait for a place; more are refused, and WeCom sends them again."`
	PublishTimeout  time.Duration `envconfig:"ROLLCALL_INGRESS_PUBLISH_TIMEOUT" default:"2s" accept:"10ms..30s" desc:"How long the broker may take with an event before the code goes to the dirty set instead."`
	FanOutBurst     int           `envconfig:"ROLLCALL_INGRESS_FAN_OUT_BURST" default:"500" accept:"1..10000" desc:"Codes that a fan-out releases at once after a pause; beyond that it keeps to the tenant's rate of WeCom calls."`
}
