package config

import "time"

// Alert says who is told of what cannot wait, and how often.
type Alert struct {
	RobotURL  SecretURL     `envconfig:"ROLLCALL_ALERT_ROBOT_URL" accept:"url:https|http" desc:"The webhook of a WeCom group robot, key included, that alerts are sent to. Without it they are logged and counted only."`
	Interval  time.Duration `envconfig:"ROLLCALL_ALERT_INTERVAL" default:"10m" accept:"1s..24h" desc:"Least time between two messages about the same kind and tenant; what comes between is told with its number."`
	PerMinute int           `envconfig:"ROLLCALL_ALERT_PER_MINUTE" default:"15" accept:"1..20" desc:"Most messages an instance sends in a minute. A robot shows 20 in all."`
}
