package pulsarbus

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const oneSubscription = `{"subscriptions":{"rollcall":{"msgBacklog":10,"unackedMessages":4,"msgInReplay":3,
	"drainingHashesCount":2,"nonContiguousDeletedMessagesRanges":1,"earliestMsgPublishTimeInBacklog":%,
	"msgRateRedeliver":1.5,"consumers":[{"consumerName":"b","unackedMessages":3,"drainingHashesCount":2,"blockedConsumerOnUnackedMsgs":true,"keyHashRangeArrays":[[1,10],[21,25]]},
		{"consumerName":"a","unackedMessages":1,"blockedConsumerOnUnackedMsgs":false,"keyHashRangeArrays":[[11,15]]}]}}}`

func TestStats(t *testing.T) {
	at := func(ms string) string { return strings.Replace(oneSubscription, "%", ms, 1) }
	tests := []struct {
		name    string
		answers map[string]string // by path and query below the topic
		want    Stats
	}{
		{"a plain topic", map[string]string{
			"/partitions": `{"partitions":0}`,
			"/stats?getPreciseBacklog=true&getEarliestTimeInBacklog=true": at("1767225600000"),
		}, Stats{
			Backlog: 10, Unacked: 4, InReplay: 3, DrainingHashes: 2, AckHoles: 1, RedeliverRate: 1.5, Consumers: 2, BlockedConsumers: 1, Blocked: true,
			Oldest: time.UnixMilli(1767225600000),
			Each:   []ConsumerStats{{Name: "a", Unacked: 1, Keys: 0.25}, {Name: "b", Unacked: 3, Draining: 2, Blocked: true, Keys: 0.75}},
		}},
		{"partitions are summed up, the oldest is the oldest of all", map[string]string{
			"/partitions": `{"partitions":3}`,
			"/partitioned-stats?getPreciseBacklog=true&getEarliestTimeInBacklog=true&perPartition=true": `{"partitions":{"a":` +
				at("1767225600001") + `,"b":` + at("1767225600000") + `,"c":` + at("-1") + `}}`,
		}, Stats{
			Backlog: 30, Unacked: 12, InReplay: 9, DrainingHashes: 6, AckHoles: 3, RedeliverRate: 4.5, Consumers: 2, BlockedConsumers: 3, Blocked: true,
			Oldest: time.UnixMilli(1767225600000),
			Each:   []ConsumerStats{{Name: "a", Unacked: 3, Keys: 0.25}, {Name: "b", Unacked: 9, Draining: 6, Blocked: true, Keys: 0.75}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			admin := adminOn(t, func(w http.ResponseWriter, r *http.Request) {
				_, below, _ := strings.Cut(r.URL.RequestURI(), "/admin/v2/persistent/public/default/topic")
				answer, ok := tt.answers[below]
				if !ok {
					t.Errorf("unexpected request %s", r.URL.RequestURI())
				}
				_, _ = io.WriteString(w, answer)
			})
			got, err := admin.Stats(t.Context(), "topic", "rollcall")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := admin.Stats(t.Context(), "topic", "another"); err == nil {
				t.Error("no error for an unknown subscription")
			}
		})
	}
}

func TestTheOldestOfAllPartitionsInWhateverOrder(t *testing.T) {
	for _, order := range [][]int64{{5, 3, -1}, {3, 5, 0}, {-1, 3, 5}} {
		var total Stats
		for _, ms := range order {
			total.add(subscriptionStats{EarliestMsgPublishTimeInBacklog: ms})
		}
		if !total.Oldest.Equal(time.UnixMilli(3)) {
			t.Errorf("oldest of %v is %v", order, total.Oldest)
		}
	}
}

func TestEnsureTopic(t *testing.T) {
	tests := []struct {
		name       string
		partitions int
		status     int
		want       string // method, path and body
		ok         bool
	}{
		{"plain", 0, 204, "PUT /admin/v2/persistent/acme/live/events ", true},
		{"partitioned", 4, 204, "PUT /admin/v2/persistent/acme/live/events/partitions 4", true},
		{"there already", 4, 409, "PUT /admin/v2/persistent/acme/live/events/partitions 4", true},
		{"refused", 0, 401, "PUT /admin/v2/persistent/acme/live/events ", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			admin := adminOn(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = r.Method + " " + r.URL.Path + " " + string(body)
				if r.Header.Get("Authorization") != "Bearer hunter2" {
					t.Errorf("token %q", r.Header.Get("Authorization"))
				}
				w.WriteHeader(tt.status)
			})
			err := admin.EnsureTopic(t.Context(), "persistent://acme/live/events", tt.partitions)
			if (err == nil) != tt.ok {
				t.Errorf("EnsureTopic: %v", err)
			}
			var refused *AdminError
			if !tt.ok && (!errors.As(err, &refused) || refused.Status != tt.status) {
				t.Errorf("EnsureTopic = %v, want an AdminError with %d", err, tt.status)
			}
			if got != tt.want {
				t.Errorf("request %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAdminErrorsHoldNoSecret(t *testing.T) {
	unreachable, err := NewAdmin(AdminOptions{URL: "http://user:hunter2@127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer unreachable.Close()
	if err := unreachable.EnsureTopic(t.Context(), "topic", 0); err == nil || strings.Contains(err.Error(), "user:") {
		t.Errorf("EnsureTopic = %v", err)
	}
	for _, o := range []AdminOptions{{URL: ""}, {URL: "user:hunter2@host"}, {URL: "ftp://user:hunter2@host"}, {URL: "http://x", TrustCertsFile: "nowhere"}} {
		if _, err := NewAdmin(o); err == nil || containsSecret(err) {
			t.Errorf("NewAdmin(%q) = %v", o.URL, err)
		}
	}
	noToken := adminOn(t, func(http.ResponseWriter, *http.Request) { t.Error("a request without its token") })
	noToken.token = func() (string, error) { return "", errors.New("no file") }
	if err := noToken.EnsureTopic(t.Context(), "topic", 0); err == nil {
		t.Error("no error without a token")
	}
	garbled := adminOn(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	if _, err := garbled.Stats(t.Context(), "topic", "s"); err == nil {
		t.Error("no error from an answer that is not JSON")
	}
}

func TestTopicPath(t *testing.T) {
	tests := []struct{ topic, want string }{
		{"events", "persistent/public/default/events"},
		{"acme/live/events", "persistent/acme/live/events"},
		{"persistent://acme/live/a b", "persistent/acme/live/a%20b"},
		{"non-persistent://acme/live/events", ""},
		{"persistent://acme/events", ""},
		{"acme//events", ""},
		{"", ""},
	}
	for _, tt := range tests {
		got, err := topicPath(tt.topic)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("topicPath(%q) = %q, %v, want %q", tt.topic, got, err, tt.want)
		}
	}
}

// adminOn is an Admin of a server that answers with handle.
func adminOn(t *testing.T, handle http.HandlerFunc) *Admin {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	admin, err := NewAdmin(AdminOptions{URL: server.URL + "/", Token: func() (string, error) { return "hunter2", nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	return admin
}
