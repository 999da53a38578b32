package config

import "log/slog"

// Telemetry says where health and metrics are served and how logs look.
type Telemetry struct {
	HTTPAddr  string     `envconfig:"ROLLCALL_HTTP_ADDR" default:":9090" accept:"address" desc:"Where /livez, /readyz and /metrics are served. Not for the internet."`
	LogLevel  slog.Level `envconfig:"ROLLCALL_LOG_LEVEL" default:"info" accept:"oneof:debug|info|warn|error" desc:"The least severe level that is logged."`
	LogFormat string     `envconfig:"ROLLCALL_LOG_FORMAT" default:"json" accept:"oneof:json|text" desc:"json for machines, text for a person. Logs go to standard error."`
}
