package config

import (
	"strings"
	"time"
)

// Pulsar says how to reach the broker and what to consume.
type Pulsar struct {
	URL              string        `envconfig:"ROLLCALL_PULSAR_URL" required:"true" accept:"url:pulsar|pulsar+ssl" desc:"The broker's service URL; several hosts separated by commas."`
	AdminURL         string        `envconfig:"ROLLCALL_PULSAR_ADMIN_URL" accept:"url:http|https" desc:"The broker's admin URL. The command deadletters asks it which letters are dealt with, the keeper asks for the subscription's figures and makes metrics of them; no role needs it to do its work."`
	Topic            string        `envconfig:"ROLLCALL_PULSAR_TOPIC" default:"persistent://public/default/rollcall-refresh" accept:"topic" desc:"Where producers publish refresh events."`
	Subscription     string        `envconfig:"ROLLCALL_PULSAR_SUBSCRIPTION" default:"rollcall" accept:"name" desc:"The Key_Shared subscription of all refreshers."`
	DeadLetterTopic  string        `envconfig:"ROLLCALL_PULSAR_DEAD_LETTER_TOPIC" default:"persistent://public/default/rollcall-dead-letters" accept:"topic" desc:"Where events go that nobody can act on."`
	Token            Secret        `envconfig:"ROLLCALL_PULSAR_TOKEN" accept:"secret" desc:"A JSON web token for the broker."`
	TokenFile        string        `envconfig:"ROLLCALL_PULSAR_TOKEN_FILE" accept:"file" desc:"A file with the token, read again when the broker asks: for tokens that are rotated."`
	TLSCAFile        string        `envconfig:"ROLLCALL_PULSAR_TLS_CA_FILE" accept:"file" desc:"Certificates (PEM) that the broker's is checked against; without it, the system's."`
	TLSCertFile      string        `envconfig:"ROLLCALL_PULSAR_TLS_CERT_FILE" accept:"file" desc:"Our certificate (PEM) for mutual TLS."`
	TLSKeyFile       string        `envconfig:"ROLLCALL_PULSAR_TLS_KEY_FILE" accept:"file" desc:"The key (PEM) of that certificate."`
	ReceiverQueue    int           `envconfig:"ROLLCALL_PULSAR_RECEIVER_QUEUE" default:"1000" accept:"1..5000" desc:"Messages the client fetches ahead. With the held codes they must stay below the broker's limit of un-acked messages (50000 a consumer)."`
	ConnectTimeout   time.Duration `envconfig:"ROLLCALL_PULSAR_CONNECT_TIMEOUT" default:"5s" accept:"100ms..1m" desc:"Longest wait for a connection."`
	OperationTimeout time.Duration `envconfig:"ROLLCALL_PULSAR_OPERATION_TIMEOUT" default:"10s" accept:"1s..5m" desc:"Longest wait for one answer of the broker."`
}

func (p Pulsar) rules() []contradiction {
	plain := strings.HasPrefix(p.URL, "pulsar://")
	return []contradiction{
		{
			names:   []string{"ROLLCALL_PULSAR_DEAD_LETTER_TOPIC", "ROLLCALL_PULSAR_TOPIC"},
			broken:  p.DeadLetterTopic == p.Topic,
			because: "dead letters would be consumed again, so the topics must differ",
		},
		{
			names:   []string{"ROLLCALL_PULSAR_TOKEN_FILE", "ROLLCALL_PULSAR_TOKEN"},
			broken:  p.TokenFile != "" && p.Token.Set(),
			because: "only one of them may be set",
		},
		{
			names:   []string{"ROLLCALL_PULSAR_TLS_CERT_FILE", "ROLLCALL_PULSAR_TLS_KEY_FILE"},
			broken:  (p.TLSCertFile == "") != (p.TLSKeyFile == ""),
			because: "mutual TLS needs both",
		},
		{
			names:   []string{"ROLLCALL_PULSAR_URL", "ROLLCALL_PULSAR_TLS_CA_FILE", "ROLLCALL_PULSAR_TLS_CERT_FILE"},
			broken:  plain && (p.TLSCAFile != "" || p.TLSCertFile != ""),
			because: "a pulsar:// connection is not encrypted; TLS needs pulsar+ssl://",
		},
	}
}
