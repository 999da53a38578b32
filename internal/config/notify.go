package config

import "time"

// Notify says how the tenants' people are told. Their channels are facts of the
// tenants and not set here.
type Notify struct {
	DailyPool    int           `envconfig:"ROLLCALL_NOTIFY_DAILY_POOL" default:"200" accept:"1..10000" desc:"Deliveries a day of a tenant that sets no pool of its own; beyond them notices are held until its next midnight."`
	Timeout      time.Duration `envconfig:"ROLLCALL_NOTIFY_TIMEOUT" default:"10s" accept:"100ms..1m" desc:"Longest attempt to reach a receiver."`
	MaxTries     int           `envconfig:"ROLLCALL_NOTIFY_MAX_TRIES" default:"12" accept:"1..100" desc:"Attempts before a delivery is given up. With the waits of 15 s, 30 s and so on up to the longest one between them, the default lasts about four hours."`
	BackoffCap   time.Duration `envconfig:"ROLLCALL_NOTIFY_BACKOFF_CAP" default:"1h" accept:"1s..24h" desc:"Longest wait between two attempts, also when a receiver asks for a longer one."`
	AllowPrivate bool          `envconfig:"ROLLCALL_NOTIFY_ALLOW_PRIVATE" default:"false" accept:"oneof:false|true" desc:"Whether webhooks may be at loopback, private and reserved addresses. Tenants choose the URLs: allow it only where all of them may reach this network."`
	Keep         time.Duration `envconfig:"ROLLCALL_NOTIFY_KEEP" default:"720h" accept:"48h..8760h" desc:"How long deliveries are kept after their end. A notice that is filed again later is told again."`
}
