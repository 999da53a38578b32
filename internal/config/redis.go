package config

import (
	"strings"
	"time"
)

// Redis says how to reach Redis and under which names to work there.
type Redis struct {
	URL         SecretURL     `envconfig:"ROLLCALL_REDIS_URL" required:"true" accept:"url:redis|rediss|unix" desc:"redis://user:password@host:port/db, or rediss:// over TLS."`
	TLSCAFile   string        `envconfig:"ROLLCALL_REDIS_TLS_CA_FILE" accept:"file" desc:"Certificates (PEM) that Redis's is checked against, read again for each connection; without it, the system's."`
	TLSCertFile string        `envconfig:"ROLLCALL_REDIS_TLS_CERT_FILE" accept:"file" desc:"Our certificate (PEM) for mutual TLS, read again for each connection."`
	TLSKeyFile  string        `envconfig:"ROLLCALL_REDIS_TLS_KEY_FILE" accept:"file" desc:"The key (PEM) of that certificate."`
	KeyPrefix   string        `envconfig:"ROLLCALL_REDIS_KEY_PREFIX" default:"rollcall:" accept:"prefix" desc:"Begins every key. Two installations on one Redis need two prefixes; instances of one installation share theirs."`
	Timeout     time.Duration `envconfig:"ROLLCALL_REDIS_TIMEOUT" default:"500ms" accept:"10ms..10s" desc:"Longest wait for one command. Beyond it the budget falls back to this instance's own share."`
	MaxPool     int           `envconfig:"ROLLCALL_REDIS_MAX_POOL" default:"64" accept:"1..4096" desc:"Most connections to one server."`
}

func (r Redis) rules() []contradiction {
	encrypted := strings.HasPrefix(r.URL.Reveal(), "rediss://")
	return []contradiction{
		wholePair("ROLLCALL_REDIS_TLS", r.TLSCertFile, r.TLSKeyFile),
		{
			names:   []string{"ROLLCALL_REDIS_URL", "ROLLCALL_REDIS_TLS_CA_FILE", "ROLLCALL_REDIS_TLS_CERT_FILE"},
			broken:  r.URL.Set() && !encrypted && r.TLSCAFile+r.TLSCertFile != "",
			because: "the connection is not encrypted; TLS needs rediss://",
		},
	}
}
