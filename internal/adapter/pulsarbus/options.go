package pulsarbus

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/prometheus/client_golang/prometheus"
)

// Defaults of Options.
const (
	DefaultSubscription           = "rollcall"
	DefaultDeadLetterSuffix       = "-dead-letter"
	DefaultDeadLetterSubscription = "rollcall-operator"
	DefaultConnectionTimeout      = 5 * time.Second
	DefaultOperationTimeout       = 10 * time.Second
	DefaultKeepAlive              = 10 * time.Second
	DefaultReceiverQueueSize      = 1000
	DefaultNackDelay              = 50 * time.Millisecond
	DefaultAckInterval            = 10 * time.Millisecond
	DefaultAckBatch               = 1000
	DefaultMaxBackoff             = 5 * time.Second
)

// Options of a Subscription and of the dead-letter list. URL and Topic are
// required.
type Options struct {
	// URL of the broker: "pulsar://host:6650" or "pulsar+ssl://host:6651".
	URL string
	// Topic of the refresh events, plain or partitioned.
	Topic string
	// Subscription that all refreshers share; "" is DefaultSubscription.
	Subscription string
	// Name of this consumer, for the broker's statistics; "" is a random one.
	Name string

	// DeadLetterTopic takes the messages nobody can act on; "" is Topic with
	// DefaultDeadLetterSuffix.
	DeadLetterTopic string
	// DeadLetterSubscription is created on it before the first dead letter: a
	// topic without a subscription keeps nothing. Nobody but an operator acks
	// there (Letters), so its backlog is the number of dead letters nobody has
	// dealt with. "" is DefaultDeadLetterSubscription.
	DeadLetterSubscription string

	// Token returns the JSON web token to show to the broker, asked again on
	// each connection; nil connects without authentication.
	Token func() (string, error)
	// TrustCertsFile holds the CA certificates for a pulsar+ssl URL; "" uses
	// the system's. The broker's host name is always verified.
	TrustCertsFile string

	// CertFile and KeyFile hold our own certificate and its key (PEM) for mutual
	// TLS; both or neither.
	CertFile string
	KeyFile  string
	// ConnectionTimeout bounds one TCP and TLS handshake.
	ConnectionTimeout time.Duration
	// OperationTimeout bounds one request to the broker (look-up, subscribe,
	// ack) and the storing of a dead letter.
	OperationTimeout time.Duration
	// KeepAlive is the interval of pings; a dead peer is noticed after two.
	KeepAlive time.Duration
	// StallAfter is how long an attempt to reconnect may show no sign of life
	// before the consumer is replaced. 0 is what one attempt may take at most:
	// the connection, the look-up and the subscribe, with two seconds to spare.
	StallAfter time.Duration
	// MaxBackoff caps the wait between two attempts to reconnect or to
	// subscribe anew.
	MaxBackoff time.Duration

	// ReceiverQueueSize is how many messages of a partition the broker may
	// send ahead of Receive; at least 1. It is also how many a consumer that
	// dies takes with it until they are redelivered.
	ReceiverQueueSize int
	// NackDelay is the wait between Nack and the redelivery. 30 to 100 ms: the
	// client looks for due messages every third of it, and redelivers about
	// half of those due at a time.
	NackDelay time.Duration
	// AckInterval is how long acks are collected before they are sent.
	AckInterval time.Duration
	// AckBatch is how many acks are sent at once at most.
	AckBatch int

	// Joins delivers a value when a sibling has subscribed; how it gets to
	// know is another adapter's affair. nil never does.
	Joins <-chan struct{}
	// OnHeartbeat is told of each heartbeat received, with the time since it was
	// published; it must not wait. nil is told nothing.
	OnHeartbeat func(age time.Duration)
	// Logger receives what this package and the Pulsar client log; nil is
	// slog.Default.
	Logger *slog.Logger
	// Registerer takes the Pulsar client's metrics; nil drops them.
	Registerer prometheus.Registerer
}

func (o Options) withDefaults() Options {
	o.Subscription = cmp.Or(o.Subscription, DefaultSubscription)
	o.DeadLetterTopic = cmp.Or(o.DeadLetterTopic, o.Topic+DefaultDeadLetterSuffix)
	o.DeadLetterSubscription = cmp.Or(o.DeadLetterSubscription, DefaultDeadLetterSubscription)
	o.ConnectionTimeout = cmp.Or(o.ConnectionTimeout, DefaultConnectionTimeout)
	o.OperationTimeout = cmp.Or(o.OperationTimeout, DefaultOperationTimeout)
	o.KeepAlive = cmp.Or(o.KeepAlive, DefaultKeepAlive)
	o.StallAfter = cmp.Or(o.StallAfter, o.ConnectionTimeout+2*o.OperationTimeout+2*time.Second)
	o.MaxBackoff = cmp.Or(o.MaxBackoff, DefaultMaxBackoff)
	o.ReceiverQueueSize = cmp.Or(o.ReceiverQueueSize, DefaultReceiverQueueSize)
	o.NackDelay = cmp.Or(o.NackDelay, DefaultNackDelay)
	o.AckInterval = cmp.Or(o.AckInterval, DefaultAckInterval)
	o.AckBatch = cmp.Or(o.AckBatch, DefaultAckBatch)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.OnHeartbeat == nil {
		o.OnHeartbeat = func(time.Duration) {}
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	return o
}

// validate names the first option that cannot work.
func (o Options) validate() error {
	if o.URL == "" {
		return errors.New("pulsarbus: options without a URL")
	}
	if o.Topic == "" {
		return errors.New("pulsarbus: options without a topic")
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		return errors.New("pulsarbus: mutual TLS needs both a certificate and its key")
	}
	if o.DeadLetterTopic == o.Topic {
		return errors.New("pulsarbus: the dead-letter topic is the topic itself")
	}
	if o.ReceiverQueueSize < 1 || o.AckBatch < 1 {
		return errors.New("pulsarbus: receiver queue size and ack batch have to be at least 1")
	}
	if o.NackDelay < 10*time.Millisecond || o.NackDelay > time.Second {
		return fmt.Errorf("pulsarbus: nack delay of %v: want 10 ms to 1 s", o.NackDelay)
	}
	return nil
}

func (o Options) clientOptions() pulsar.ClientOptions {
	c := pulsar.ClientOptions{
		URL:                   o.URL,
		ConnectionTimeout:     o.ConnectionTimeout,
		OperationTimeout:      o.OperationTimeout,
		KeepAliveInterval:     o.KeepAlive,
		TLSTrustCertsFilePath: o.TrustCertsFile,
		TLSValidateHostname:   true,
		TLSCertificateFile:    o.CertFile,
		TLSKeyFilePath:        o.KeyFile,
		Logger:                log.NewLoggerWithSlog(newClientLog(o.Logger)),
		MetricsRegisterer:     o.Registerer,
	}
	if o.Token != nil {
		c.Authentication = pulsar.NewAuthenticationTokenFromSupplier(o.Token)
	}
	return c
}

// consumerOptions are the same for every refresher: mixed Key_Shared settings
// on one subscription are refused by the broker.
//
// AckWithResponse makes AckIDList one confirmed request for many acks; nothing
// else of this package acks. Grouping is this package's own, so the client's is
// switched off: its timer would block a worker's ack while the broker is away.
func (o Options) consumerOptions() pulsar.ConsumerOptions {
	exact := int64(0)
	return pulsar.ConsumerOptions{
		Topic:                       o.Topic,
		SubscriptionName:            o.Subscription,
		Name:                        o.Name,
		Type:                        pulsar.KeyShared,
		SubscriptionInitialPosition: pulsar.SubscriptionPositionEarliest,
		KeySharedPolicy: &pulsar.KeySharedPolicy{
			Mode:                    pulsar.KeySharedPolicyModeAutoSplit,
			AllowOutOfOrderDelivery: false,
		},
		ReceiverQueueSize:   o.ReceiverQueueSize,
		NackRedeliveryDelay: o.NackDelay,
		NackPrecisionBit:    &exact,
		AckWithResponse:     true,
		AckGroupingOptions:  &pulsar.AckGroupingOptions{MaxSize: 1},
	}
}

// NewClient returns a client with the options' connection settings, for
// whoever publishes beside the subscription. The caller closes it.
func NewClient(o Options) (pulsar.Client, error) { return newClient(o.withDefaults()) }

// newClient connects with the options' settings. Its error holds no URL: a
// service URL may carry credentials.
func newClient(o Options) (pulsar.Client, error) {
	client, err := pulsar.NewClient(o.clientOptions())
	if err != nil {
		return nil, fmt.Errorf("pulsarbus: create a client: %w", err)
	}
	return client, nil
}
