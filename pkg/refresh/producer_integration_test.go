//go:build integration

package refresh_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/pkg/refresh/refreshtest"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

func TestARealBrokerKeepsThePublishersPromises(t *testing.T) {
	t.Parallel()
	refreshtest.Check(t, dial(t, newTopic(t, 0)), "t1", "c1")
}

func TestWhatAConsumerSees(t *testing.T) {
	t.Parallel()
	for _, partitions := range []int{0, 3} {
		t.Run(fmt.Sprintf("%d partitions", partitions), func(t *testing.T) {
			topic := newTopic(t, partitions)
			consumer := subscribe(t, topic)
			p := dial(t, topic)
			want := map[string]refresh.Event{}
			for i := range 30 {
				e := sample()
				e.Code = fmt.Sprint("c-", i)
				want[e.Code] = e
				p.PublishAsync(traced(t), e, func(err error) {
					if err != nil {
						t.Error(err)
					}
				})
			}
			if err := p.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := map[string]refresh.Event{}
			for range want {
				m := receive(t, consumer)
				e, err := refresh.Decode(m.Payload())
				if err != nil {
					t.Fatal(err)
				}
				got[m.Key()] = e
				if m.ID().BatchSize() > 1 {
					t.Error("the event came in a batch")
				}
				if at := e.OccurredAt.Truncate(time.Millisecond); !m.EventTime().Equal(at) {
					t.Errorf("event time %v, want %v", m.EventTime(), at)
				}
				if m.Properties()["traceparent"] == "" {
					t.Error("no trace context")
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every producer, with whatever client, has to send a key to the same
// partition; the events page promises that it is Java's hash that decides.
func TestAKeyHasOnePartition(t *testing.T) {
	t.Parallel()
	topic := newTopic(t, 4)
	consumer := subscribe(t, topic)
	first, second := dial(t, topic), dial(t, topic)
	at := map[string]int32{}
	for range 3 {
		for i := range 20 {
			e := sample()
			e.Code = fmt.Sprint("c-", i)
			for _, p := range []*refresh.Producer{first, second} {
				if err := p.Publish(t.Context(), e); err != nil {
					t.Fatal(err)
				}
				m := receive(t, consumer)
				if before, ok := at[m.Key()]; ok && before != m.ID().PartitionIdx() {
					t.Errorf("%s went to partition %d and %d", m.Key(), before, m.ID().PartitionIdx())
				}
				at[m.Key()] = m.ID().PartitionIdx()
			}
		}
	}
}

func TestAClosedProducerSaysSo(t *testing.T) {
	t.Parallel()
	p := dial(t, newTopic(t, 0))
	p.Close()
	if err := p.Publish(t.Context(), sample()); !errors.Is(err, refresh.ErrClosed) {
		t.Errorf("Publish = %v, want ErrClosed", err)
	}
}

func newTopic(t *testing.T, partitions int) string {
	t.Helper()
	name := "sdk-" + strings.ToLower(rand.Text())
	url, body := stacktest.PulsarAdminURL(t)+"/admin/v2/persistent/public/default/"+name, ""
	if partitions > 0 {
		url, body = url+"/partitions", fmt.Sprint(partitions)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		t.Fatalf("create the topic: http %d", answer.StatusCode)
	}
	return "persistent://public/default/" + name
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func dial(t *testing.T, topic string) *refresh.Producer {
	t.Helper()
	p, err := refresh.Dial(stacktest.PulsarURL(t), refresh.Options{Topic: topic, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func subscribe(t *testing.T, topic string) pulsar.Consumer {
	t.Helper()
	client, err := pulsar.NewClient(pulsar.ClientOptions{
		URL: stacktest.PulsarURL(t), Logger: log.NewLoggerWithSlog(quiet()), MetricsRegisterer: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	consumer, err := client.Subscribe(pulsar.ConsumerOptions{Topic: topic, SubscriptionName: "check", Type: pulsar.KeyShared})
	if err != nil {
		t.Fatal(err)
	}
	return consumer
}

func receive(t *testing.T, consumer pulsar.Consumer) pulsar.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	m, err := consumer.Receive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := consumer.Ack(m); err != nil {
		t.Fatal(err)
	}
	return m
}
