package config

import "time"

// WeCom says how to call the vendor. Corp IDs and secrets are facts of the
// tenants and not set here.
type WeCom struct {
	BaseURL     string        `envconfig:"ROLLCALL_WECOM_BASE_URL" default:"https://qyapi.weixin.qq.com" accept:"url:http|https" desc:"Where WeCom's API is; a simulator's address in a test."`
	CallTimeout time.Duration `envconfig:"ROLLCALL_WECOM_CALL_TIMEOUT" default:"5s" accept:"100ms..1m" desc:"Longest duration of one call. It is also how long the announcement of a push stays open."`
	BreakerOpen time.Duration `envconfig:"ROLLCALL_WECOM_BREAKER_OPEN" default:"10s" accept:"100ms..10m" desc:"How long a circuit breaker that opened lets no call through, before it probes: a tenant's after 5 failures in a row, that of all of WeCom after 20 within 10s that are half of the calls."`
	Egress      string        `envconfig:"ROLLCALL_WECOM_EGRESS" default:"default" accept:"name" desc:"A name for the IP address that calls leave from. Instances behind one address share its budget and must share its name."`
	TokenKey    SealKey       `envconfig:"ROLLCALL_WECOM_TOKEN_KEY" accept:"key" desc:"Seals the access tokens that instances share in Redis. Without it each instance fetches and keeps its own."`
}
