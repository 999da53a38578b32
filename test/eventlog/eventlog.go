// Package eventlog lets an integration test see every refresh event that is
// published on a topic.
package eventlog

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/apache/pulsar-client-go/pulsar"
	pulsarlog "github.com/apache/pulsar-client-go/pulsar/log"

	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// Follow makes the topic and hands every event on it to each, one after the
// other and in the order of the topic, until the test ends. A message that is no
// event fails the test.
func Follow(t *testing.T, topic string, each func(refresh.Event)) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	admin, err := pulsarbus.NewAdmin(pulsarbus.AdminOptions{URL: stacktest.PulsarAdminURL(t)})
	must(err)
	defer admin.Close()
	must(admin.EnsureTopic(t.Context(), topic, 0))
	client, err := pulsar.NewClient(pulsar.ClientOptions{
		URL: stacktest.PulsarURL(t), Logger: pulsarlog.NewLoggerWithSlog(slog.New(slog.DiscardHandler)),
	})
	must(err)
	t.Cleanup(client.Close)
	reader, err := client.CreateReader(pulsar.ReaderOptions{Topic: topic, StartMessageID: pulsar.EarliestMessageID()})
	must(err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var reading sync.WaitGroup
	reading.Go(func() { read(ctx, t, reader, each) })
	t.Cleanup(func() {
		stop()
		reading.Wait()
		reader.Close()
	})
}

func read(ctx context.Context, t *testing.T, reader pulsar.Reader, each func(refresh.Event)) {
	for {
		msg, err := reader.Next(ctx)
		if err != nil {
			return
		}
		if pulsarbus.IsHeartbeat(msg) {
			continue
		}
		event, err := refresh.Decode(msg.Payload())
		if err != nil {
			t.Errorf("a message is no event: %v", err)
			continue
		}
		each(event)
	}
}
