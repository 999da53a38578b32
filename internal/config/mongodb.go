package config

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// MongoDB says how to reach the store.
type MongoDB struct {
	URI            SecretURL     `envconfig:"ROLLCALL_MONGODB_URI" required:"true" accept:"url:mongodb|mongodb+srv" desc:"The connection string of the replica set, credentials included. Read preference and write concern in it are overruled: reads go to the primary, writes wait for the majority."`
	Database       string        `envconfig:"ROLLCALL_MONGODB_DATABASE" default:"rollcall" accept:"name" desc:"The database that holds facts and records."`
	TLSCAFile      string        `envconfig:"ROLLCALL_MONGODB_TLS_CA_FILE" accept:"file" desc:"Certificates (PEM) that the servers' are checked against, read at the start; it turns TLS on. Without it, what the connection string says."`
	TLSCertFile    string        `envconfig:"ROLLCALL_MONGODB_TLS_CERT_FILE" accept:"file" desc:"Our certificate (PEM) for mutual TLS, read again for each connection; it turns TLS on."`
	TLSKeyFile     string        `envconfig:"ROLLCALL_MONGODB_TLS_KEY_FILE" accept:"file" desc:"The key (PEM) of that certificate."`
	ConnectTimeout time.Duration `envconfig:"ROLLCALL_MONGODB_CONNECT_TIMEOUT" default:"5s" accept:"100ms..1m" desc:"Longest wait for a connection."`
	Timeout        time.Duration `envconfig:"ROLLCALL_MONGODB_TIMEOUT" default:"3s" accept:"100ms..1m" desc:"Longest wait for one operation, retries included."`
	MaxPool        int           `envconfig:"ROLLCALL_MONGODB_MAX_POOL" default:"128" accept:"4..4096" desc:"Most connections to one server. A worker reads record and facts at the same time: twice the workers is right."`
	MinPool        int           `envconfig:"ROLLCALL_MONGODB_MIN_POOL" default:"4" accept:"0..1024" desc:"Connections kept open while idle."`
}

func (m MongoDB) rules() []contradiction {
	files := m.TLSCAFile+m.TLSCertFile != ""
	return []contradiction{
		{
			names:   []string{"ROLLCALL_MONGODB_MIN_POOL", "ROLLCALL_MONGODB_MAX_POOL"},
			broken:  m.MinPool > m.MaxPool,
			because: "the first must not be larger",
		},
		wholePair("ROLLCALL_MONGODB_TLS", m.TLSCertFile, m.TLSKeyFile),
		{
			names:   []string{"ROLLCALL_MONGODB_URI", "ROLLCALL_MONGODB_TLS_CA_FILE", "ROLLCALL_MONGODB_TLS_CERT_FILE"},
			broken:  files && m.uriSays(func(option, value string) bool { return (option == "tls" || option == "ssl") && value == "false" }),
			because: "the connection string turns TLS off, and the files are for TLS",
		},
		{
			names:   []string{"ROLLCALL_MONGODB_URI", "ROLLCALL_MONGODB_TLS_CA_FILE", "ROLLCALL_MONGODB_TLS_CERT_FILE"},
			broken:  files && m.uriSays(func(option, _ string) bool { return slices.Contains(tlsOptions, option) }),
			because: "the connection string has TLS options of its own; say it in one place",
		},
	}
}

// tlsOptions are those of a connection string that our files would overrule, in
// lower case.
var tlsOptions = []string{
	"tlscafile", "tlscertificatekeyfile", "tlscertificatefile", "tlsprivatekeyfile", "tlsinsecure",
	"sslcertificateauthorityfile", "sslclientcertificatekeyfile", "sslinsecure",
}

// uriSays reports whether an option of the connection string is as match asks;
// names come in lower case, as the driver reads them.
func (m MongoDB) uriSays(match func(option, value string) bool) bool {
	_, query, _ := strings.Cut(m.URI.Reveal(), "?")
	for part := range strings.SplitSeq(query, "&") {
		option, value, _ := strings.Cut(part, "=")
		if value, err := url.QueryUnescape(value); err == nil && match(strings.ToLower(option), value) {
			return true
		}
	}
	return false
}
