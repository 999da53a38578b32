//go:build integration

package pulsarbus

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

func TestAKeyStaysWithOneConsumer(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 0)
	const keys, rounds = 60, 20
	var mu sync.Mutex
	owners := map[string]map[int]bool{}
	shares := map[int]int{}
	seen := 0
	for i := range 3 {
		s := b.open()
		b.worker(s, func(d intake.Delivery) {
			mu.Lock()
			defer mu.Unlock()
			if owners[d.Key] == nil {
				owners[d.Key] = map[int]bool{}
			}
			owners[d.Key][i] = true
			shares[i]++
			seen++
			s.Ack(d.ID)
		})
	}
	p := b.producer()
	for range rounds {
		b.publish(p, "", codes(keys)...)
	}
	eventually(t, 10*time.Second, func() error {
		mu.Lock()
		defer mu.Unlock()
		if seen < keys*rounds {
			return fmt.Errorf("%d of %d events", seen, keys*rounds)
		}
		return nil
	})
	mu.Lock()
	defer mu.Unlock()
	for key, of := range owners {
		if len(of) != 1 {
			t.Errorf("key %s went to %d consumers", key, len(of))
		}
	}
	if len(shares) != 3 {
		t.Errorf("events by consumer: %v, want all three to have some", shares)
	}
	t.Logf("events by consumer: %v", shares)
}

// Not parallel: it measures. The bound is on the median; a busy machine delays
// single ones.
func TestANackComesBackToTheOwnerWithin250ms(t *testing.T) {
	b := newBroker(t, 0)
	type arrival struct {
		consumer int
		d        intake.Delivery
		at       time.Time
	}
	arrivals := make(chan arrival, 1)
	subs := make([]*Subscription, 3)
	for i := range subs {
		subs[i] = b.open()
		b.worker(subs[i], func(d intake.Delivery) { arrivals <- arrival{i, d, time.Now()} })
	}
	b.publish(b.producer(), "", "c-1")
	first := <-arrivals
	waits := make([]time.Duration, 0, 30)
	for n := range 30 {
		nacked := time.Now()
		subs[first.consumer].Nack(first.d.ID)
		again := <-arrivals
		waits = append(waits, again.at.Sub(nacked))
		if again.consumer != first.consumer || again.d.ID != first.d.ID {
			t.Fatalf("message %v of consumer %d came as %v to consumer %d", first.d.ID, first.consumer, again.d.ID, again.consumer)
		}
		if again.d.Redeliveries != uint32(n+1) {
			t.Errorf("%d redeliveries after %d nacks", again.d.Redeliveries, n+1)
		}
	}
	subs[first.consumer].Ack(first.d.ID)
	b.drained()
	slices.Sort(waits)
	t.Logf("nack to redelivery: p50 %v, worst %v", waits[15], waits[29])
	if waits[15] > 250*time.Millisecond {
		t.Errorf("half of the nacks took longer than %v", waits[15])
	}
}

// The client redelivers about half of what is due at a time, so a thousand
// take a few of its ticks. Not parallel: it measures.
func TestAThousandNacksComeBackSoon(t *testing.T) {
	b := newBroker(t, 0)
	s := b.open()
	b.publish(b.producer(), "", codes(1000)...)
	ids := make([]intake.MessageID, 0, 1000)
	for _, d := range b.receiveN(s, 1000) {
		ids = append(ids, d.ID)
	}
	nacked := time.Now()
	s.Nack(ids...)
	again := b.receiveN(s, 1000)
	took := time.Since(nacked)
	t.Logf("1000 nacks came back after %v", took)
	if took > 2*time.Second {
		t.Errorf("1000 nacks took %v", took)
	}
	for _, d := range again {
		s.Ack(d.ID)
	}
	b.drained()
}

func TestAGracefulCloseLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 0)
	const keys, rounds = 100, 60
	var mu sync.Mutex
	last := map[string]int{} // the highest event number acked, by key
	acks := func(s *Subscription) func(intake.Delivery) {
		return func(d intake.Delivery) {
			n, err := strconv.Atoi(d.Event.Note)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			last[d.Key] = max(last[d.Key], n)
			mu.Unlock()
			s.Ack(d.ID)
		}
	}
	leaver, stayer := b.open(), b.open()
	leaving := b.worker(leaver, acks(leaver))
	b.worker(stayer, acks(stayer))

	p := b.producer()
	for n := 1; n <= rounds; n++ {
		b.publish(p, strconv.Itoa(n), codes(keys)...)
		if n == rounds/2 {
			leaving.join()
			b.close(leaver)
		}
	}
	b.drained()
	mu.Lock()
	defer mu.Unlock()
	for _, key := range codes(keys) {
		if last[key] != rounds {
			t.Errorf("last event acked of %s is %d, want %d", key, last[key], rounds)
		}
	}
}

func TestUnackedIsExact(t *testing.T) {
	t.Parallel()
	for _, partitions := range []int{0, 4} {
		t.Run(fmt.Sprintf("%d partitions", partitions), func(t *testing.T) {
			b := newBroker(t, partitions)
			s := b.open()
			b.publish(b.producer(), "", codes(500)...)
			used := map[int32]bool{}
			for i, d := range b.receiveN(s, 500) {
				used[d.ID.Partition] = true
				if i < 321 {
					s.Ack(d.ID)
				}
			}
			b.flush(s)
			if len(used) != max(partitions, 1) {
				t.Errorf("%d partitions used, want %d", len(used), max(partitions, 1))
			}
			eventually(t, 5*time.Second, func() error {
				if got := b.stats(); got.Unacked != 179 || got.Backlog != 179 {
					return fmt.Errorf("un-acked %d, backlog %d, want 179", got.Unacked, got.Backlog)
				}
				return nil
			})
		})
	}
}

func TestNackOnAPartitionedTopic(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 4)
	s := b.open()
	b.publish(b.producer(), "", codes(40)...)
	first := map[string]intake.MessageID{}
	for _, d := range b.receiveN(s, 40) {
		first[d.Key] = d.ID
		s.Nack(d.ID)
	}
	for _, d := range b.receiveN(s, 40) {
		if d.ID != first[d.Key] || d.Redeliveries != 1 {
			t.Errorf("%s came back as %v with %d redeliveries, want %v with 1", d.Key, d.ID, d.Redeliveries, first[d.Key])
		}
		s.Ack(d.ID)
	}
	b.drained()
}

func TestAnUnloadOfTheTopicIsSurvived(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 0)
	s, p := b.open(), b.producer()
	b.publish(p, "", "c-1")
	p.Close() // the client's producer races with itself when it reconnects (v0.19.0)
	held := b.receive(s)
	b.request(http.MethodPut, b.path()+"/unload", "")
	if again := b.receive(s); again.ID != held.ID {
		t.Errorf("after the unload came %v, want the un-acked %v", again.ID, held.ID)
	}
	s.Ack(held.ID)
	b.publish(b.producer(), "", "c-2")
	d := b.receive(s)
	if d.Key != "c-2" {
		t.Errorf("received %s, want c-2", d.Key)
	}
	b.must(s.Connected(t.Context()))
	s.Ack(d.ID)
	b.drained()
}

// The client gives up for good when the broker answers that the topic is not
// there; only the replacement of the consumer brings it back.
func TestATopicThatWasGoneIsSurvived(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 0)
	space := "public/" + strings.ToLower(b.topic[strings.LastIndex(b.topic, "/")+1:])
	b.request(http.MethodPut, "namespaces/"+space, "")
	b.request(http.MethodPost, "namespaces/"+space+"/autoTopicCreation", `{"allowAutoTopicCreation":false}`)
	b.topic = "persistent://" + space + "/events"
	b.must(b.admin.EnsureTopic(t.Context(), b.topic, 0))

	s := b.open(func(o *Options) { o.StallAfter = 2 * time.Second })
	b.must(s.Connected(t.Context()))
	b.request(http.MethodDelete, b.path()+"?force=true", "")
	eventually(t, 5*time.Second, func() error {
		if s.Connected(t.Context()) == nil {
			return fmt.Errorf("the lost connection is not noticed")
		}
		return nil
	})
	eventually(t, 10*time.Second, func() error {
		if s.current.Load() != nil {
			return fmt.Errorf("the consumer is not replaced")
		}
		return nil
	})
	b.must(b.admin.EnsureTopic(t.Context(), b.topic, 0))
	eventually(t, 15*time.Second, func() error {
		if s.Counters().Resubscribed == 0 {
			return fmt.Errorf("not subscribed anew")
		}
		return s.Connected(t.Context())
	})
	b.publish(b.producer(), "", "c-1")
	d := b.receive(s)
	s.Ack(d.ID)
	b.drained()
}

// A producer that batches breaks the rules, and nothing of it is lost.
func TestBatchedMessagesAreDistinctAndNoneIsLost(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 0)
	s := b.open()
	p, err := b.client().CreateProducer(pulsar.ProducerOptions{
		Topic: b.topic, BatchingMaxMessages: 10, BatchingMaxPublishDelay: time.Second,
	})
	b.must(err)
	defer p.Close()
	for _, code := range codes(10) {
		payload, err := refresh.Encode(refresh.Event{Tenant: "t", Code: code, Reason: "test", OccurredAt: time.Now()})
		b.must(err)
		p.SendAsync(t.Context(), &pulsar.ProducerMessage{Key: code, Payload: payload},
			func(_ pulsar.MessageID, _ *pulsar.ProducerMessage, err error) {
				if err != nil {
					t.Error(err)
				}
			})
	}
	b.must(p.FlushWithCtx(t.Context()))

	seen := map[intake.MessageID]bool{}
	batch := b.receiveN(s, 10)
	for _, d := range batch[:9] {
		seen[d.ID] = true
		s.Ack(d.ID)
	}
	b.flush(s)
	if len(seen) != 9 || seen[batch[9].ID] {
		t.Errorf("%d distinct IDs in nine messages", len(seen))
	}
	if got := b.stats(); got.Backlog == 0 {
		t.Fatal("nine of ten acked, and the broker has forgotten the tenth")
	}
	s.Nack(batch[9].ID)
	for _, d := range b.receiveN(s, 10) {
		s.Ack(d.ID)
	}
	b.drained()
	if got := s.Counters(); got.Batched != 20 {
		t.Errorf("%d batched messages counted, want 20", got.Batched)
	}
}
