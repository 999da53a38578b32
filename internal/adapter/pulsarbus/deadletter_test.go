package pulsarbus

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestADeadLetterExplainsItself(t *testing.T) {
	w, client := newWriter()
	d := poison()
	d.Trace = map[string]string{"traceparent": "00-aa-bb-01"}
	for range 2 {
		if err := w.write(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	want := &pulsar.ProducerMessage{
		Key: "c-1", Payload: []byte("rubbish"),
		Properties: map[string]string{
			"rollcall-cause": "undecodable", "rollcall-detail": "not JSON", "rollcall-message-id": "7:9:3",
			"rollcall-published-at": "2026-03-04T05:06:07.5Z", "rollcall-topic": "topic", "rollcall-subscription": "rollcall",
			"traceparent": "00-aa-bb-01",
		},
	}
	if diff := cmp.Diff([]*pulsar.ProducerMessage{want, want}, client.producer.sent); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := client.attempts(); n != 1 {
		t.Errorf("the subscription that keeps the letters was made %d times, want once", n)
	}
	if o := client.asked[0]; o.Topic != "topic-dead-letter" || o.SubscriptionName != "rollcall-operator" || o.SubscriptionInitialPosition != pulsar.SubscriptionPositionEarliest {
		t.Errorf("the letters are kept by %q on %q", o.SubscriptionName, o.Topic)
	}
	if _, _, _, closed := client.consumers[0].state(); !closed {
		t.Error("the keeping subscription still has a consumer, which would take letters")
	}
	w.close()
	if !client.producer.closed {
		t.Error("the producer is still open")
	}
}

func TestADeadLetterThatIsNotStoredIsAnError(t *testing.T) {
	lost := errors.New("time-out")
	tests := []struct {
		name   string
		damage func(*fakeClient)
		d      intake.Delivery
		want   error
	}{
		{"no poison", func(*fakeClient) {}, intake.Delivery{}, errNoPoison},
		{"no subscription", func(c *fakeClient) { c.consumers = nil }, poison(), nil},
		{"no producer", func(c *fakeClient) { c.producer = nil }, poison(), nil},
		{"not confirmed", func(c *fakeClient) { c.producer.fail = lost }, poison(), lost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, client := newWriter()
			tt.damage(client)
			err := w.write(t.Context(), tt.d)
			if err == nil || (tt.want != nil && !errors.Is(err, tt.want)) {
				t.Errorf("write = %v, want %v", err, tt.want)
			}
			w.close()
		})
	}
}

func TestALongDetailIsCut(t *testing.T) {
	d := poison()
	d.Poison.Detail = strings.Repeat("码", 1000)
	got := letterOf(d, testOptions()).Properties[propDetail]
	if got != strings.Repeat("码", 341) {
		t.Errorf("%d bytes of detail, want 1023: whole characters only", len(got))
	}
}

func TestADeadLetterIsReadBack(t *testing.T) {
	letter := letterOf(poison(), testOptions())
	buried := time.Date(2026, 3, 4, 6, 0, 0, 0, time.UTC)
	got := letterFrom(fakeMessage{
		id: pulsar.NewMessageID(1, 2, -1, 0), key: letter.Key, payload: letter.Payload, properties: letter.Properties, published: buried,
	})
	want := letters.Letter{
		ID: "1:2:0", OriginalID: "7:9:3", Topic: "topic", Key: "c-1", Cause: reason.Undecodable, Detail: "not JSON",
		Payload: []byte("rubbish"), PublishedAt: time.Date(2026, 3, 4, 5, 6, 7, 5e8, time.UTC), BuriedAt: buried,
		Properties: letter.Properties,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func newWriter() (*deadLetterWriter, *fakeClient) {
	client := &fakeClient{consumers: []*fakeConsumer{newConsumer()}, producer: &fakeProducer{}}
	return &deadLetterWriter{client: client, o: testOptions()}, client
}

func poison() intake.Delivery {
	return intake.Delivery{
		ID: intake.MessageID{Partition: 3, Ledger: 7, Entry: 9}, Key: "c-1",
		Poison:      &intake.Poison{Cause: reason.Undecodable, Detail: "not JSON", Payload: []byte("rubbish")},
		PublishedAt: time.Date(2026, 3, 4, 5, 6, 7, 5e8, time.UTC),
	}
}
