package pulsarbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/preflight"
)

// Inspector asks the admin API what preflight has to know. It needs the
// version's page, which is open to everybody, and what an administrator of the
// tenant may see.
type Inspector struct{ admin *Admin }

var _ preflight.BrokerAdmin = Inspector{}

// Inspector returns an Inspector on the same connections.
func (a *Admin) Inspector() Inspector { return Inspector{a} }

// Version returns the broker's version and its clock, which steps by a second.
func (i Inspector) Version(ctx context.Context) (string, preflight.Reading, error) {
	begun := time.Now()
	answer, err := i.admin.do(ctx, http.MethodGet, "brokers/version", nil)
	if err != nil {
		return "", preflight.Reading{}, fmt.Errorf("ask for the broker's version: %w", err)
	}
	trip := time.Since(begun)
	defer func() { _ = answer.Body.Close() }() // read to its end
	text, err := io.ReadAll(io.LimitReader(answer.Body, 200))
	switch {
	case answer.StatusCode == http.StatusUnauthorized:
		return "", preflight.Reading{}, fmt.Errorf("%w: the admin API refuses our credentials (http 401)", preflight.ErrForbidden)
	case err == nil && answer.StatusCode != http.StatusOK:
		err = fmt.Errorf("http %d", answer.StatusCode) // the body is a web page
	}
	if err != nil {
		return "", preflight.Reading{}, fmt.Errorf("ask for the broker's version: %w", err)
	}
	return strings.TrimSpace(string(text)), preflight.DateReading(answer.Header.Get("Date"), begun, trip), nil
}

// Partitions returns the partitions of a topic, 0 for a plain one.
func (i Inspector) Partitions(ctx context.Context, topic string) (int, error) {
	name, err := topicPath(topic)
	if err != nil {
		return 0, err
	}
	n, err := i.admin.partitions(ctx, name)
	return n, told(err)
}

// Subscription returns what the broker knows of a subscription, over all
// partitions.
func (i Inspector) Subscription(ctx context.Context, topic, subscription string) (preflight.Subscription, error) {
	partitions, err := i.Partitions(ctx, topic)
	if err != nil {
		return preflight.Subscription{}, err
	}
	name, err := topicPath(topic)
	if err != nil {
		return preflight.Subscription{}, err
	}
	path := name + "/stats?getPreciseBacklog=false"
	if partitions > 0 {
		path = name + "/partitioned-stats?perPartition=false"
	}
	var stats struct {
		Subscriptions map[string]struct {
			Type       string     `json:"type"`
			Backlog    int64      `json:"msgBacklog"`
			OutOfOrder bool       `json:"allowOutOfOrderDelivery"`
			Consumers  []struct{} `json:"consumers"`
		} `json:"subscriptions"`
	}
	if err := i.get(ctx, path, &stats); err != nil {
		return preflight.Subscription{}, err
	}
	s, found := stats.Subscriptions[subscription]
	if !found {
		return preflight.Subscription{}, fmt.Errorf("subscription %s: %w", subscription, preflight.ErrNotFound)
	}
	return preflight.Subscription{Type: s.Type, Consumers: len(s.Consumers), Backlog: s.Backlog, OutOfOrder: s.OutOfOrder}, nil
}

// Policies returns what applies to a topic.
func (i Inspector) Policies(ctx context.Context, topic string) (preflight.Policies, error) {
	name, err := topicPath(topic)
	if err != nil {
		return preflight.Policies{}, err
	}
	var p preflight.Policies
	var ttl int
	quotas := map[string]quota{}
	var inactive struct {
		Mode   string `json:"inactiveTopicDeleteMode"`
		Delete bool   `json:"deleteWhileInactive"`
	}
	err = errors.Join(
		i.get(ctx, name+"/messageTTL?applied=true", &ttl),
		i.get(ctx, name+"/backlogQuotaMap?applied=true", &quotas),
		i.get(ctx, name+"/maxUnackedMessagesOnConsumer?applied=true", &p.UnackedOfConsumer),
		i.get(ctx, name+"/maxUnackedMessagesOnSubscription?applied=true", &p.UnackedOfSubscription),
		i.get(ctx, name+"/inactiveTopicPolicies?applied=true", &inactive),
	)
	if err != nil {
		return preflight.Policies{}, err
	}
	p.TTL = time.Duration(ttl) * time.Second
	p.DeletesWhenCaughtUp = inactive.Delete && inactive.Mode == "delete_when_subscriptions_caught_up"
	for _, kind := range []string{"destination_storage", "message_age"} {
		if q, set := quotas[kind]; set {
			p.Quotas = append(p.Quotas, preflight.Quota{Kind: kind, Limit: q.limit(kind), Policy: q.Policy})
		}
	}
	p.Expiration, err = i.expiration(ctx, name)
	return p, err
}

type quota struct {
	LimitSize int64  `json:"limitSize"` // bytes
	LimitTime int64  `json:"limitTime"` // seconds
	Policy    string `json:"policy"`
}

// limit is the quota's limit for a person. The broker gives both limits with
// each kind; only the kind's own counts.
func (q quota) limit(kind string) string {
	switch {
	case kind == "message_age" && q.LimitTime > 0:
		return (time.Duration(q.LimitTime) * time.Second).String()
	case kind != "message_age" && q.LimitSize > 0:
		return strconv.FormatInt(q.LimitSize>>20, 10) + " MiB"
	}
	return ""
}

// expiration is when a quiet subscription is removed: what the namespace says,
// else the broker's configuration, as far as we may read that.
func (i Inspector) expiration(ctx context.Context, topic string) (time.Duration, error) {
	parts := strings.Split(topic, "/")
	var minutes *int
	if err := i.get(ctx, "namespaces/"+parts[1]+"/"+parts[2]+"/subscriptionExpirationTime", &minutes); err != nil {
		return 0, err
	}
	if minutes != nil {
		return time.Duration(max(*minutes, 0)) * time.Minute, nil
	}
	runtime, err := i.runtime(ctx)
	if errors.Is(err, preflight.ErrForbidden) {
		return 0, nil // a superuser's to see; the default is off
	}
	if err != nil {
		return 0, err
	}
	n, _ := strconv.Atoi(runtime["subscriptionExpirationTimeMinutes"]) // 0, the default, when it is none
	return time.Duration(n) * time.Minute, nil
}

// ClassicKeyShared reports whether the broker's Key_Shared drains no hashes. Only
// a superuser may ask.
func (i Inspector) ClassicKeyShared(ctx context.Context) (bool, error) {
	runtime, err := i.runtime(ctx)
	return runtime["subscriptionKeySharedUseClassicPersistentImplementation"] == "true", err
}

func (i Inspector) runtime(ctx context.Context) (map[string]string, error) {
	settings := map[string]string{}
	err := i.get(ctx, "brokers/configuration/runtime", &settings)
	return settings, err
}

// CreateTopic makes a topic that is not there; a plain one for 0 partitions.
func (i Inspector) CreateTopic(ctx context.Context, topic string, partitions int) error {
	return told(i.admin.EnsureTopic(ctx, topic, partitions))
}

// CreateSubscription makes a subscription that is not there, from the oldest
// message on, on every partition.
func (i Inspector) CreateSubscription(ctx context.Context, topic, subscription string) error {
	name, err := topicPath(topic)
	if err != nil {
		return err
	}
	const oldest = `{"ledgerId":-1,"entryId":-1,"partitionIndex":-1}`
	err = i.admin.call(ctx, http.MethodPut, name+"/subscription/"+subscription, []byte(oldest), nil)
	if refused, is := errors.AsType[*AdminError](err); is && refused.Status == http.StatusConflict {
		return nil
	}
	return told(err)
}

// get decodes an answer. An empty one, which the broker gives for a policy that
// is not set, leaves out as it is.
func (i Inspector) get(ctx context.Context, path string, out any) error {
	var raw json.RawMessage
	if err := i.admin.call(ctx, http.MethodGet, path, nil, &raw); err != nil || len(raw) == 0 {
		return told(err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("pulsarbus: admin GET %s: decode the answer: %w", path, err)
	}
	return nil
}

// told makes an answer of the broker one that preflight knows.
func told(err error) error {
	refused, is := errors.AsType[*AdminError](err)
	switch {
	case !is:
		return err
	case refused.Status == http.StatusNotFound:
		return fmt.Errorf("%w: %w", preflight.ErrNotFound, err)
	case refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden:
		return fmt.Errorf("%w: %w", preflight.ErrForbidden, err)
	}
	return err
}
