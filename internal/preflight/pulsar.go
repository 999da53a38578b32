package preflight

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Answers of a broker that are no failure to reach it. Adapters wrap them.
var (
	ErrNotFound  = errors.New("it is not there")
	ErrForbidden = errors.New("not permitted")
)

// Broker is the broker as producers and consumers see it. Nothing is published,
// and nobody's messages are taken.
type Broker interface {
	// Connect connects and shows the credentials.
	Connect(ctx context.Context) error
	// Produce opens a producer and closes it; Consume the same with a reader.
	Produce(ctx context.Context, topic string) error
	Consume(ctx context.Context, topic string) error
}

// BrokerAdmin is the admin API. Its errors wrap ErrNotFound and ErrForbidden.
type BrokerAdmin interface {
	// Version is asked of whoever answers; it needs no permission.
	Version(ctx context.Context) (version string, clock Reading, err error)
	// Partitions of a topic; 0 is a plain one.
	Partitions(ctx context.Context, topic string) (int, error)
	// Subscription returns what the broker knows of a subscription.
	Subscription(ctx context.Context, topic, name string) (Subscription, error)
	// Policies returns what applies to a topic, be it set for the topic, its
	// namespace or the broker.
	Policies(ctx context.Context, topic string) (Policies, error)
	// ClassicKeyShared reports whether the broker runs Key_Shared without
	// draining hashes.
	ClassicKeyShared(ctx context.Context) (bool, error)
	// CreateTopic and CreateSubscription leave what is there as it is; a
	// subscription begins with the oldest message.
	CreateTopic(ctx context.Context, topic string, partitions int) error
	CreateSubscription(ctx context.Context, topic, name string) error
}

// Subscription is what the broker knows of a subscription.
type Subscription struct {
	Type       string // "Key_Shared"; "" or "None" before the first consumer
	Consumers  int    // each counted once a partition
	Backlog    int64  // messages not acked
	OutOfOrder bool   // a consumer asked for no draining of hashes
}

// Policies are what the broker does to the messages of a topic.
type Policies struct {
	TTL                   time.Duration // 0 is off
	Quotas                []Quota
	UnackedOfConsumer     int // 0 is without a limit
	UnackedOfSubscription int
	Expiration            time.Duration // of a subscription without activity; 0 is never
	DeletesWhenCaughtUp   bool          // an inactive topic goes with its subscriptions
}

// Quota bounds a backlog.
type Quota struct {
	Kind   string // "destination_storage" or "message_age"
	Limit  string // for a person; "" is none
	Policy string // "producer_request_hold", "producer_exception" or "consumer_backlog_eviction"
}

// evicts is the policy that drops un-acked messages.
const evicts = "consumer_backlog_eviction"

// Bus is what the checks of the broker compare with.
type Bus struct {
	Topic, Subscription                     string
	DeadLetterTopic, DeadLetterSubscription string
	Partitions                              int           // wanted; 0 is any number above one
	Unacked                                 int           // of one consumer at most: fetched ahead and held
	Instances                               int           // consumers at most
	Margin                                  time.Duration // for clocks
}

// newPartitions is how many a topic gets that is made here, unless it is said.
const newPartitions = 4

// bus looks at the broker.
type bus struct {
	Bus
	broker Broker
	admin  BrokerAdmin // nil when its address is not known
}

// PulsarChecks are the checks of the broker. admin may be nil.
func PulsarChecks(want Bus, broker Broker, admin BrokerAdmin) []Check {
	b := bus{want, broker, admin}
	connect := Check{Name: "pulsar.connect", Look: b.connect}
	if admin == nil {
		unknown := func(context.Context) Finding {
			return warn("ROLLCALL_PULSAR_ADMIN_URL is not set: topic, subscription and policies cannot be looked at; "+
				"`rollcall deadletters` and the metrics of the subscription need it too", "set it")
		}
		return append([]Check{connect, {Name: "pulsar.admin", Look: unknown}}, b.permissions()...)
	}
	api, topic := []string{"pulsar.admin"}, []string{"pulsar.topic"}
	return append([]Check{
		connect,
		{Name: "pulsar.admin", Look: b.administrate},
		{Name: "pulsar.version", After: api, Look: b.version},
		{Name: "pulsar.clock", After: api, Look: b.clock},
		{Name: "pulsar.topic", After: api, Look: b.topic, Mend: b.makeTopic},
		{Name: "pulsar.subscription", After: topic, Look: b.subscription, Mend: b.makeSubscription},
		{Name: "pulsar.draining", After: []string{"pulsar.subscription"}, Look: b.draining},
		{Name: "pulsar.ttl", After: topic, Look: b.policy(ttl)},
		{Name: "pulsar.backlog_quota", After: topic, Look: b.policy(backlogQuota)},
		{Name: "pulsar.unacked", After: topic, Look: b.policy(b.unacked)},
		{Name: "pulsar.expiration", After: topic, Look: b.policy(expiration)},
		{Name: "pulsar.dead_letters", After: api, Look: b.deadLetters, Mend: b.makeDeadLetters},
	}, b.permissions("pulsar.topic", "pulsar.dead_letters")...)
}

// permissions try what roles do; a topic that is not there is not tried, since
// the broker might make it.
func (b bus) permissions(behind ...string) []Check {
	connected := []string{"pulsar.connect"}
	return []Check{
		{Name: "pulsar.produce", After: connected, Behind: behind, Look: b.may(b.Topic, b.broker.Produce, "produce to",
			"the keeper, ingress and the commands can publish nothing")},
		{Name: "pulsar.consume", After: connected, Behind: behind, Look: b.may(b.Topic, b.broker.Consume, "consume from",
			"refreshers get no event")},
		{Name: "pulsar.bury", After: connected, Behind: behind, Look: b.may(b.DeadLetterTopic, b.broker.Produce, "produce to",
			"a message that nobody can act on stays un-acked, and with it its part of the backlog")},
	}
}

func (b bus) connect(ctx context.Context) Finding {
	err := b.broker.Connect(ctx)
	switch {
	case errors.Is(err, ErrForbidden):
		return fail(err.Error(), "see ROLLCALL_PULSAR_TOKEN_FILE, ROLLCALL_PULSAR_OAUTH2_* and ROLLCALL_PULSAR_TLS_*")
	case err != nil:
		return fail(err.Error(), "see ROLLCALL_PULSAR_URL, ROLLCALL_PULSAR_TLS_* and the network")
	}
	return ok("connected")
}

func (b bus) administrate(ctx context.Context) Finding {
	version, _, err := b.admin.Version(ctx)
	if err != nil {
		return fail(err.Error(), "see ROLLCALL_PULSAR_ADMIN_URL, the credentials and the network")
	}
	if _, err := b.admin.Partitions(ctx, b.Topic); errors.Is(err, ErrForbidden) {
		return warn("reached, but we may see nothing of the topic: `rollcall deadletters`, the metrics of the subscription and --fix will not work", administrator)
	}
	if _, err := b.admin.Policies(ctx, b.Topic); errors.Is(err, ErrForbidden) {
		return warn("reached, but we are no administrator: policies cannot be looked at, and --fix will not work; the roles need no more", administrator)
	}
	return ok("reached, broker " + version)
}

// administrator is what lets preflight see everything.
const administrator = "run preflight with the credentials of an administrator of the Pulsar tenant"

// advisedBroker has Key_Shared with draining hashes in the form that is tested.
const advisedBroker = "4.0.8"

func (b bus) version(ctx context.Context) Finding {
	version, _, err := b.admin.Version(ctx)
	switch {
	case err != nil:
		return fail(err.Error(), "see ROLLCALL_PULSAR_ADMIN_URL")
	case older(version, "4"):
		return warn(version+": Key_Shared of this version does not drain hashes, so a code can be with two consumers for a moment more often",
			"upgrade the brokers to "+advisedBroker+" or newer")
	case older(version, advisedBroker):
		return warn(version+" is not tested", "upgrade the brokers to "+advisedBroker+" or newer")
	}
	return ok(version)
}

func (b bus) clock(ctx context.Context) Finding {
	_, reading, err := b.admin.Version(ctx)
	if err != nil {
		return fail(err.Error(), "see ROLLCALL_PULSAR_ADMIN_URL")
	}
	return clock(reading, b.Margin)
}

// unseen judges an error of the admin API about a thing.
func unseen(what string, err error, remedy string) Finding {
	switch {
	case errors.Is(err, ErrForbidden):
		return skip("we may not look at " + what)
	case errors.Is(err, ErrNotFound):
		return fail(what+" is not there", remedy)
	}
	return fail(err.Error(), "see ROLLCALL_PULSAR_ADMIN_URL")
}

func (b bus) topic(ctx context.Context) Finding {
	n, err := b.admin.Partitions(ctx, b.Topic)
	if err != nil {
		return unseen("topic "+b.Topic, err, "make it, partitioned: --fix, or pulsar-admin topics create-partitioned-topic")
	}
	return partitions(n, b.Partitions)
}

func partitions(n, want int) Finding {
	const remedy = "a topic's partitions can only be added to, and its codes then change places: plan it (docs/operations/sizing.md)"
	switch {
	case n == 0:
		return warn("not partitioned: one broker serves all codes", "publish to a partitioned topic of another name")
	case want > 0 && n != want:
		return warn(fmt.Sprintf("%d partitions, not the %d asked for", n, want), remedy)
	case n == 1 && want != 1:
		return warn("1 partition: one broker serves all codes", remedy)
	}
	return ok(fmt.Sprintf("%d partitions", n))
}

func (b bus) makeTopic(ctx context.Context) (string, error) {
	if _, err := b.admin.Partitions(ctx, b.Topic); !errors.Is(err, ErrNotFound) {
		return "", err // it is there: its partitions are for a person to change
	}
	n := b.Partitions
	if n == 0 {
		n = newPartitions
	}
	return fmt.Sprintf("made the topic with %d partitions", n), b.admin.CreateTopic(ctx, b.Topic, n)
}

func (b bus) subscription(ctx context.Context) Finding {
	s, err := b.admin.Subscription(ctx, b.Topic, b.Subscription)
	if err != nil {
		return unseen("subscription "+b.Subscription, err, "make it before anything is published, or events are lost: --fix, or start a refresher")
	}
	return keyShared(s)
}

func keyShared(s Subscription) Finding {
	about := fmt.Sprintf("%d consumers, backlog of %d", s.Consumers, s.Backlog)
	switch {
	case s.Type == "Key_Shared":
		return ok("Key_Shared, " + about)
	case s.Consumers > 0:
		return fail(fmt.Sprintf("of type %s, %s: refreshers are refused", s.Type, about),
			"stop whoever consumes there, or give Rollcall another ROLLCALL_PULSAR_SUBSCRIPTION")
	case s.Type == "" || s.Type == "None":
		return ok("Key_Shared with its first consumer, " + about)
	}
	return warn(fmt.Sprintf("its last consumers were %s, %s: they may come back before a refresher does", s.Type, about),
		"see to it that nobody but refreshers consumes there")
}

func (b bus) makeSubscription(ctx context.Context) (string, error) {
	if _, err := b.admin.Subscription(ctx, b.Topic, b.Subscription); !errors.Is(err, ErrNotFound) {
		return "", err
	}
	return "made subscription " + b.Subscription + " from the oldest message on", b.admin.CreateSubscription(ctx, b.Topic, b.Subscription)
}

func (b bus) draining(ctx context.Context) Finding {
	s, err := b.admin.Subscription(ctx, b.Topic, b.Subscription)
	if err != nil {
		return unseen("the subscription", err, "see pulsar.subscription")
	}
	if s.OutOfOrder {
		return fail("a consumer of the subscription asked for out-of-order delivery: a code can be with two consumers at once",
			"stop the consumer that is no refresher")
	}
	classic, err := b.admin.ClassicKeyShared(ctx)
	switch {
	case errors.Is(err, ErrForbidden):
		return skip("we may not read the broker's configuration (subscriptionKeySharedUseClassicPersistentImplementation has to be false)")
	case err != nil:
		return fail(err.Error(), "see ROLLCALL_PULSAR_ADMIN_URL")
	case classic:
		return fail("subscriptionKeySharedUseClassicPersistentImplementation is true: hashes are not drained", "set it to false on the brokers")
	}
	return ok("on")
}

// policy judges what applies to the topic.
func (b bus) policy(judge func(Policies) Finding) func(context.Context) Finding {
	return func(ctx context.Context) Finding {
		p, err := b.admin.Policies(ctx, b.Topic)
		if err != nil {
			return unseen("the policies of the topic", err, "see pulsar.topic")
		}
		return judge(p)
	}
}

func ttl(p Policies) Finding {
	if p.TTL > 0 {
		return fail(fmt.Sprintf("%s: messages older than that are dropped without a trace, held ones too", p.TTL),
			"pulsar-admin topics set-message-ttl --ttl 0 TOPIC, or remove the namespace's (namespaces remove-message-ttl)")
	}
	return ok("off")
}

func backlogQuota(p Policies) Finding {
	found := "none"
	for _, q := range p.Quotas {
		switch {
		case q.Limit == "":
			continue
		case q.Policy == evicts:
			return fail(fmt.Sprintf("beyond a backlog of %s (%s) events are dropped: %s", q.Limit, q.Kind, q.Policy),
				"pulsar-admin namespaces set-backlog-quota with --policy producer_request_hold")
		}
		found = fmt.Sprintf("beyond %s producers wait or fail (%s), nothing is dropped", q.Limit, q.Policy)
	}
	return ok(found)
}

func (b bus) unacked(p Policies) Finding {
	all := b.Unacked * b.Instances
	found := fmt.Sprintf("%s a consumer, %s a subscription; ours are %d and %d at most",
		limit(p.UnackedOfConsumer), limit(p.UnackedOfSubscription), b.Unacked, all)
	const remedy = "lower ROLLCALL_PULSAR_RECEIVER_QUEUE and ROLLCALL_REFRESHER_MAX_HELD, or raise the broker's limits"
	switch {
	case reaches(b.Unacked, p.UnackedOfConsumer):
		return fail(found+": at the limit a refresher gets nothing any more", remedy)
	case reaches(all, p.UnackedOfSubscription):
		return warn(found+" with ROLLCALL_BUDGET_INSTANCES refreshers: at the limit none of them gets anything", remedy)
	}
	return ok(found)
}

func reaches(n, limit int) bool { return limit > 0 && n >= limit }

func limit(n int) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprint(n)
}

func expiration(p Policies) Finding {
	switch {
	case p.Expiration > 0:
		return fail(fmt.Sprintf("a subscription without activity for %s is removed with its backlog", p.Expiration),
			"pulsar-admin namespaces remove-subscription-expiration-time, and subscriptionExpirationTimeMinutes=0 on the brokers")
	case p.DeletesWhenCaughtUp:
		return fail("a topic that is caught up is removed with its subscription when it is quiet: the next events may find none",
			"pulsar-admin topics set-inactive-topic-policies --delete-mode delete_when_no_subscriptions")
	}
	return ok("off")
}

func (b bus) deadLetters(ctx context.Context) Finding {
	s, err := b.admin.Subscription(ctx, b.DeadLetterTopic, b.DeadLetterSubscription)
	switch {
	case errors.Is(err, ErrForbidden):
		return skip("we may not look at topic " + b.DeadLetterTopic)
	case errors.Is(err, ErrNotFound):
		return warn("topic or subscription is not there: the first refresher that needs them makes them, if it may",
			"make them: --fix")
	case err != nil:
		return fail(err.Error(), "see ROLLCALL_PULSAR_ADMIN_URL")
	}
	if f := b.deadLetterTTL(ctx); f.Verdict == Fail {
		return f
	}
	if s.Backlog > 0 {
		return warn(fmt.Sprintf("%d wait for a person", s.Backlog), "rollcall deadletters list")
	}
	return ok("there, and none waits")
}

func (b bus) deadLetterTTL(ctx context.Context) Finding {
	p, err := b.admin.Policies(ctx, b.DeadLetterTopic)
	if err != nil {
		return skip("its policies cannot be looked at")
	}
	return ttl(p)
}

func (b bus) makeDeadLetters(ctx context.Context) (string, error) {
	if _, err := b.admin.Subscription(ctx, b.DeadLetterTopic, b.DeadLetterSubscription); !errors.Is(err, ErrNotFound) {
		return "", err
	}
	if _, err := b.admin.Partitions(ctx, b.DeadLetterTopic); errors.Is(err, ErrNotFound) {
		if err := b.admin.CreateTopic(ctx, b.DeadLetterTopic, 0); err != nil {
			return "", err
		}
	}
	return "made the dead-letter topic with subscription " + b.DeadLetterSubscription,
		b.admin.CreateSubscription(ctx, b.DeadLetterTopic, b.DeadLetterSubscription)
}

// may tries one right on a topic that is there.
func (b bus) may(topic string, try func(context.Context, string) error, what, lost string) func(context.Context) Finding {
	return func(ctx context.Context) Finding {
		if b.admin == nil {
			return skip("not tried: without the admin API it is not known whether the topic is there")
		}
		// Trying makes a topic that is not there, where the broker makes topics by
		// itself; so it is tried when the topic is there, or cannot be known of.
		switch _, err := b.admin.Partitions(ctx, topic); {
		case errors.Is(err, ErrNotFound):
			return skip("not tried: topic " + topic + " is not there")
		case err != nil && !errors.Is(err, ErrForbidden):
			return skip("not tried: it is not known whether topic " + topic + " is there")
		}
		if err := try(ctx, topic); err != nil {
			return fail("we cannot "+what+" "+topic+": "+lost+" ("+err.Error()+")",
				"grant it: pulsar-admin namespaces grant-permission --role ROLE --actions produce,consume NAMESPACE")
		}
		return ok("permitted")
	}
}
