package pulsarbus

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/preflight"
)

// inspectorOn answers each path below /admin/v2/ with a text; what is not there
// is 404.
func inspectorOn(t *testing.T, answers map[string]string) Inspector {
	return adminOn(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hunter2" {
			t.Errorf("%s without the token", r.URL)
		}
		answer, ok := answers[r.URL.RequestURI()[len("/admin/v2/"):]]
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case answer == "forbidden":
			w.WriteHeader(http.StatusForbidden)
		default:
			_, _ = io.WriteString(w, answer)
		}
	}).Inspector()
}

const quotas = `{"destination_storage":{"limitSize":10737418240,"limitTime":-1,"policy":"producer_request_hold"},
	"message_age":{"limitSize":10737418240,"limitTime":3600,"policy":"consumer_backlog_eviction"}}`

func policyAnswers(change map[string]string) map[string]string {
	const topic = "persistent/acme/live/t/"
	answers := map[string]string{
		topic + "messageTTL?applied=true":                       "60",
		topic + "backlogQuotaMap?applied=true":                  quotas,
		topic + "maxUnackedMessagesOnConsumer?applied=true":     "50000",
		topic + "maxUnackedMessagesOnSubscription?applied=true": "200000",
		topic + "inactiveTopicPolicies?applied=true":            `{"inactiveTopicDeleteMode":"delete_when_subscriptions_caught_up","deleteWhileInactive":true}`,
		"namespaces/acme/live/subscriptionExpirationTime":       "",
		"brokers/configuration/runtime":                         `{"subscriptionExpirationTimeMinutes":"5","subscriptionKeySharedUseClassicPersistentImplementation":"true"}`,
	}
	for path, answer := range change {
		answers[path] = answer
	}
	return answers
}

func TestPolicies(t *testing.T) {
	want := preflight.Policies{
		TTL: time.Minute, UnackedOfConsumer: 50_000, UnackedOfSubscription: 200_000, DeletesWhenCaughtUp: true, Expiration: 5 * time.Minute,
		Quotas: []preflight.Quota{
			{Kind: "destination_storage", Limit: "10240 MiB", Policy: "producer_request_hold"},
			{Kind: "message_age", Limit: "1h0m0s", Policy: "consumer_backlog_eviction"},
		},
	}
	for name, tt := range map[string]struct {
		change map[string]string
		edit   func(*preflight.Policies)
	}{
		"as the broker applies them": {nil, func(*preflight.Policies) {}},
		"the namespace's expiration": {map[string]string{"namespaces/acme/live/subscriptionExpirationTime": "7"}, func(p *preflight.Policies) { p.Expiration = 7 * time.Minute }},
		"the broker's is not for us": {map[string]string{"brokers/configuration/runtime": "forbidden"}, func(p *preflight.Policies) { p.Expiration = 0 }},
		"nothing set":                {map[string]string{"persistent/acme/live/t/messageTTL?applied=true": ""}, func(p *preflight.Policies) { p.TTL = 0 }},
	} {
		wanted := want
		tt.edit(&wanted)
		got, err := inspectorOn(t, policyAnswers(tt.change)).Policies(t.Context(), "persistent://acme/live/t")
		if diff := cmp.Diff(wanted, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestInspectedSubscription(t *testing.T) {
	const stats = `{"subscriptions":{"rollcall":{"type":"Shared","msgBacklog":7,"allowOutOfOrderDelivery":true,"consumers":[{},{}]}}}`
	want := preflight.Subscription{Type: "Shared", Backlog: 7, OutOfOrder: true, Consumers: 2}
	for name, answers := range map[string]map[string]string{
		"plain":       {"persistent/acme/live/t/partitions": `{"partitions":0}`, "persistent/acme/live/t/stats?getPreciseBacklog=false": stats},
		"partitioned": {"persistent/acme/live/t/partitions": `{"partitions":3}`, "persistent/acme/live/t/partitioned-stats?perPartition=false": stats},
	} {
		i := inspectorOn(t, answers)
		got, err := i.Subscription(t.Context(), "persistent://acme/live/t", "rollcall")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if _, err := i.Subscription(t.Context(), "persistent://acme/live/t", "other"); !errors.Is(err, preflight.ErrNotFound) {
			t.Errorf("%s: %v of another subscription", name, err)
		}
	}
}

func TestWhatTheBrokerRefuses(t *testing.T) {
	i := inspectorOn(t, map[string]string{"persistent/acme/live/secret/partitions": "forbidden", "brokers/configuration/runtime": `{"subscriptionKeySharedUseClassicPersistentImplementation":"true"}`})
	if _, err := i.Partitions(t.Context(), "persistent://acme/live/secret"); !errors.Is(err, preflight.ErrForbidden) {
		t.Errorf("%v of what is forbidden", err)
	}
	if _, err := i.Partitions(t.Context(), "persistent://acme/live/none"); !errors.Is(err, preflight.ErrNotFound) {
		t.Errorf("%v of what is not there", err)
	}
	if classic, err := i.ClassicKeyShared(t.Context()); !classic || err != nil {
		t.Errorf("ClassicKeyShared() = %t, %v", classic, err)
	}
}
