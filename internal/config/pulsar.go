package config

import (
	"strings"
	"time"
)

// Pulsar says how to reach the broker and what to consume.
type Pulsar struct {
	URL              string        `envconfig:"ROLLCALL_PULSAR_URL" required:"true" accept:"url:pulsar|pulsar+ssl" desc:"The broker's service URL; several hosts separated by commas."`
	AdminURL         string        `envconfig:"ROLLCALL_PULSAR_ADMIN_URL" accept:"url:http|https" desc:"The broker's admin URL. The command deadletters asks it which letters are dealt with, status shows the subscription's figures, the keeper asks for the subscription's figures and makes metrics of them; no role needs it to do its work."`
	Topic            string        `envconfig:"ROLLCALL_PULSAR_TOPIC" default:"persistent://public/default/rollcall-refresh" accept:"topic" desc:"Where producers publish refresh events."`
	Subscription     string        `envconfig:"ROLLCALL_PULSAR_SUBSCRIPTION" default:"rollcall" accept:"name" desc:"The Key_Shared subscription of all refreshers."`
	DeadLetterTopic  string        `envconfig:"ROLLCALL_PULSAR_DEAD_LETTER_TOPIC" default:"persistent://public/default/rollcall-dead-letters" accept:"topic" desc:"Where events go that nobody can act on."`
	Token            Secret        `envconfig:"ROLLCALL_PULSAR_TOKEN" accept:"secret" desc:"A JSON web token for the broker."`
	TokenFile        string        `envconfig:"ROLLCALL_PULSAR_TOKEN_FILE" accept:"file" desc:"A file with the token, read again when the broker asks: for tokens that are rotated."`
	OAuth2IssuerURL  string        `envconfig:"ROLLCALL_PULSAR_OAUTH2_ISSUER_URL" accept:"url:http|https" desc:"Whoever issues access tokens for the broker (OAuth 2.0, client credentials): his address without /.well-known/openid-configuration. His certificate is checked against the system's."`
	OAuth2Audience   string        `envconfig:"ROLLCALL_PULSAR_OAUTH2_AUDIENCE" accept:"text" desc:"For whom the token is, as the issuer knows the broker; some issuers want none."`
	OAuth2Scope      string        `envconfig:"ROLLCALL_PULSAR_OAUTH2_SCOPE" accept:"text" desc:"The scopes to ask for, separated by spaces, beside those of the file."`
	OAuth2ClientID   string        `envconfig:"ROLLCALL_PULSAR_OAUTH2_CLIENT_ID" accept:"text" desc:"Our ID at the issuer; without it, the client_id of the file."`
	OAuth2KeyFile    string        `envconfig:"ROLLCALL_PULSAR_OAUTH2_KEY_FILE" accept:"file" desc:"A JSON file with client_id and client_secret, read again for each new token: for secrets that are rotated."`
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
			names:   []string{"ROLLCALL_PULSAR_OAUTH2_ISSUER_URL", "ROLLCALL_PULSAR_TOKEN", "ROLLCALL_PULSAR_TOKEN_FILE"},
			broken:  p.OAuth2IssuerURL != "" && (p.Token.Set() || p.TokenFile != ""),
			because: "a token is given or issued, not both",
		},
		{
			names:   []string{"ROLLCALL_PULSAR_OAUTH2_ISSUER_URL", "ROLLCALL_PULSAR_OAUTH2_KEY_FILE"},
			broken:  (p.OAuth2IssuerURL == "") != (p.OAuth2KeyFile == ""),
			because: "OAuth 2.0 needs both",
		},
		{
			names:   []string{"ROLLCALL_PULSAR_OAUTH2_ISSUER_URL", "ROLLCALL_PULSAR_OAUTH2_AUDIENCE", "ROLLCALL_PULSAR_OAUTH2_SCOPE", "ROLLCALL_PULSAR_OAUTH2_CLIENT_ID"},
			broken:  p.OAuth2IssuerURL == "" && p.OAuth2Audience+p.OAuth2Scope+p.OAuth2ClientID != "",
			because: "the others mean nothing without the issuer",
		},
		wholePair("ROLLCALL_PULSAR_TLS", p.TLSCertFile, p.TLSKeyFile),
		{
			names:   []string{"ROLLCALL_PULSAR_URL", "ROLLCALL_PULSAR_TLS_CA_FILE", "ROLLCALL_PULSAR_TLS_CERT_FILE"},
			broken:  plain && (p.TLSCAFile != "" || p.TLSCertFile != ""),
			because: "a pulsar:// connection is not encrypted; TLS needs pulsar+ssl://",
		},
	}
}
