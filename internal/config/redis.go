package config

import "time"

// Redis says how to reach Redis and under which names to work there.
type Redis struct {
	URL       SecretURL     `envconfig:"ROLLCALL_REDIS_URL" required:"true" accept:"url:redis|rediss|unix" desc:"redis://user:password@host:port/db, or rediss:// over TLS."`
	KeyPrefix string        `envconfig:"ROLLCALL_REDIS_KEY_PREFIX" default:"rollcall:" accept:"prefix" desc:"Begins every key. Two installations on one Redis need two prefixes; instances of one installation share theirs."`
	Timeout   time.Duration `envconfig:"ROLLCALL_REDIS_TIMEOUT" default:"500ms" accept:"10ms..10s" desc:"Longest wait for one command. Beyond it the budget falls back to this instance's own share."`
	MaxPool   int           `envconfig:"ROLLCALL_REDIS_MAX_POOL" default:"64" accept:"1..4096" desc:"Most connections to one server."`
}
