package refresh

import (
	"errors"
	"log/slog"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"go.opentelemetry.io/otel/propagation"
)

// Defaults of Options.
const (
	DefaultSendTimeout       = 30 * time.Second
	DefaultMaxPending        = 1000
	DefaultConnectionTimeout = 5 * time.Second
)

// WhenFull says what happens to an event when MaxPending others of the same
// partition wait for the broker.
type WhenFull int

const (
	// Block waits for room until the context ends. It slows a producer down to
	// what the broker takes and is right for workers and batch jobs.
	Block WhenFull = iota
	// Refuse fails at once with ErrFull. It is right where a request of a user
	// waits and the caller has a place for events that were not published.
	Refuse
)

// Options of a Producer. Only Topic has to be set.
type Options struct {
	// Topic of the refresh events, plain or partitioned, for instance
	// "persistent://public/default/rollcall-refresh".
	Topic string
	// Name of the producer, unique on the topic; "" lets the broker choose.
	Name string
	// SendTimeout is how long an event may wait for the broker, reconnections
	// included, before it fails; 0 is DefaultSendTimeout.
	SendTimeout time.Duration
	// MaxPending is how many events of one partition may wait for the broker;
	// 0 is DefaultMaxPending.
	MaxPending int
	// WhenFull is what happens beyond MaxPending: Block or Refuse.
	WhenFull WhenFull
	// Propagator writes the trace context into the message's properties; nil
	// is W3C Trace Context ("traceparent", "tracestate").
	Propagator propagation.TextMapPropagator

	// The rest is for Dial alone; New takes a client that has these settings.

	// Token returns the JSON web token to show to the broker, and is asked
	// again on each connection; nil connects without authentication.
	Token func() (string, error)
	// TrustCertsFile holds the CA certificates for a pulsar+ssl URL; "" uses
	// the system's. The broker's host name is always verified.
	TrustCertsFile string
	// ConnectionTimeout bounds the TCP and TLS handshake; 0 is
	// DefaultConnectionTimeout.
	ConnectionTimeout time.Duration
	// Logger receives what the Pulsar client logs; nil is slog.Default.
	Logger *slog.Logger
}

var errNoTopic = errors.New("refresh: options without a topic")

func (o Options) withDefaults() Options {
	if o.SendTimeout == 0 {
		o.SendTimeout = DefaultSendTimeout
	}
	if o.MaxPending == 0 {
		o.MaxPending = DefaultMaxPending
	}
	if o.ConnectionTimeout == 0 {
		o.ConnectionTimeout = DefaultConnectionTimeout
	}
	if o.Propagator == nil {
		o.Propagator = propagation.TraceContext{}
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// producerOptions are the ones every producer of refresh events has to use,
// in whatever language (docs/events.md): no batching, because the broker routes
// a whole batch by the key of its first message, and the hash that the other
// clients use for partitions.
func (o Options) producerOptions() pulsar.ProducerOptions {
	return pulsar.ProducerOptions{
		Topic:                   o.Topic,
		Name:                    o.Name,
		SendTimeout:             o.SendTimeout,
		MaxPendingMessages:      o.MaxPending,
		DisableBlockIfQueueFull: o.WhenFull == Refuse,
		DisableBatching:         true,
		HashingScheme:           pulsar.JavaStringHash,
	}
}

func (o Options) clientOptions(url string) pulsar.ClientOptions {
	c := pulsar.ClientOptions{
		URL:                   url,
		ConnectionTimeout:     o.ConnectionTimeout,
		KeepAliveInterval:     10 * time.Second,
		TLSTrustCertsFilePath: o.TrustCertsFile,
		TLSValidateHostname:   true,
		Logger:                log.NewLoggerWithSlog(o.Logger),
	}
	if o.Token != nil {
		c.Authentication = pulsar.NewAuthenticationTokenFromSupplier(o.Token)
	}
	return c
}
