//go:build integration

package pulsarbus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// broker is a topic of one test's own on the real broker.
type broker struct {
	t     testing.TB
	admin *Admin
	topic string
}

// newBroker makes a topic with a random name; 0 partitions is a plain one.
func newBroker(t testing.TB, partitions int) *broker {
	t.Helper()
	b := &broker{t: t, admin: newAdmin(t), topic: "persistent://public/default/bus-" + strings.ToLower(rand.Text())}
	b.must(b.admin.EnsureTopic(t.Context(), b.topic, partitions))
	return b
}

func newAdmin(t testing.TB) *Admin {
	t.Helper()
	admin, err := NewAdmin(AdminOptions{URL: stacktest.PulsarAdminURL(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	return admin
}

func (b *broker) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *broker) options() Options {
	return Options{URL: stacktest.PulsarURL(b.t), Topic: b.topic, Logger: quiet()}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// open joins the subscription; edit may change the options.
func (b *broker) open(edit ...func(*Options)) *Subscription {
	b.t.Helper()
	o := b.options()
	for _, e := range edit {
		e(&o)
	}
	s, err := Open(b.t.Context(), o)
	b.must(err)
	b.t.Cleanup(func() { b.close(s) })
	return s
}

func (b *broker) close(s *Subscription) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		b.t.Errorf("Close: %v", err)
	}
}

// client is a bare client, for producers that do not keep to the rules.
func (b *broker) client() pulsar.Client {
	b.t.Helper()
	c, err := pulsar.NewClient(pulsar.ClientOptions{
		URL: stacktest.PulsarURL(b.t), Logger: log.NewLoggerWithSlog(quiet()), MetricsRegisterer: prometheus.NewRegistry(),
	})
	b.must(err)
	b.t.Cleanup(c.Close)
	return c
}

// producer is the SDK's, on the test's topic.
func (b *broker) producer() *refresh.Producer {
	b.t.Helper()
	p, err := refresh.New(b.client(), refresh.Options{Topic: b.topic})
	b.must(err)
	b.t.Cleanup(p.Close)
	return p
}

// publish stores one event of each code.
func (b *broker) publish(p *refresh.Producer, note string, codes ...string) {
	b.t.Helper()
	failed := make(chan error, len(codes))
	for _, code := range codes {
		e := refresh.Event{Tenant: "t", Code: code, Reason: "test", OccurredAt: time.Now(), Note: note}
		p.PublishAsync(b.t.Context(), e, func(err error) { failed <- err })
	}
	for range codes {
		b.must(<-failed)
	}
}

// codes are n codes of the form c-0, c-1, …
func codes(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("c-%d", i)
	}
	return list
}

// receive waits for one delivery, 10 s at most.
func (b *broker) receive(s *Subscription) intake.Delivery {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	d, err := s.Receive(ctx)
	b.must(err)
	return d
}

func (b *broker) receiveN(s *Subscription, n int) []intake.Delivery {
	b.t.Helper()
	list := make([]intake.Delivery, n)
	for i := range list {
		list[i] = b.receive(s)
	}
	return list
}

func (b *broker) flush(s *Subscription) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	b.must(s.Flush(ctx))
}

func (b *broker) stats() Stats {
	b.t.Helper()
	stats, err := b.admin.Stats(b.t.Context(), b.topic, DefaultSubscription)
	b.must(err)
	return stats
}

// drained waits until the subscription has no backlog.
func (b *broker) drained() {
	b.t.Helper()
	eventually(b.t, 10*time.Second, func() error {
		if s := b.stats(); s.Backlog != 0 || s.Unacked != 0 {
			return fmt.Errorf("backlog %d, un-acked %d", s.Backlog, s.Unacked)
		}
		return nil
	})
}

// eventually polls until check passes; it fails the test with the last answer.
func eventually(t testing.TB, within time.Duration, check func() error) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(within)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still after %v: %v", within, err)
		}
		<-tick.C
	}
}

// request is an admin call for which the product has no use.
func (b *broker) request(method, path, body string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, stacktest.PulsarAdminURL(b.t)+"/admin/v2/"+path, strings.NewReader(body))
	b.must(err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := b.admin.http.Do(r)
	b.must(err)
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		text, _ := io.ReadAll(answer.Body)
		b.t.Fatalf("%s %s: %d %s", method, path, answer.StatusCode, text)
	}
}

func (b *broker) path() string {
	path, err := topicPath(b.topic)
	b.must(err)
	return path
}

// worker receives until stopped and hands each delivery to work.
type worker struct {
	stop context.CancelFunc
	done sync.WaitGroup
}

func (b *broker) worker(s *Subscription, work func(intake.Delivery)) *worker {
	ctx, cancel := context.WithCancel(context.Background())
	w := &worker{stop: cancel}
	w.done.Go(func() {
		for {
			d, err := s.Receive(ctx)
			if err != nil {
				if !errors.Is(err, context.Canceled) && !errors.Is(err, ErrClosed) {
					b.t.Errorf("Receive: %v", err)
				}
				return
			}
			work(d)
		}
	})
	b.t.Cleanup(w.join)
	return w
}

func (w *worker) join() {
	w.stop()
	w.done.Wait()
}
