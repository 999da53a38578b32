package pulsarbus

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/intake"
)

func TestReceiveThenAckOrNackByID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		consumer := newConsumer(message(1), message(2), message(3))
		s, _ := start(t, consumer)
		for n := int64(1); n <= 3; n++ {
			if d := receive(t, s); d.ID != id(n) || d.Event == nil {
				t.Errorf("received %+v, want the event of entry %d", d, n)
			}
		}
		s.Ack(id(1), id(3))
		s.Nack(id(2))
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		acked, nacked, _, _ := consumer.state()
		if diff := cmp.Diff([]int64{1, 3}, entries(acked)); diff != "" {
			t.Errorf("acked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]int64{2}, entries(nacked)); diff != "" {
			t.Errorf("nacked (-want +got):\n%s", diff)
		}
	})
}

func TestReceiveEndsWithItsContextAndWithTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, client := start(t, newConsumer())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Receive(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Receive = %v, want the deadline", err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Receive(t.Context()); !errors.Is(err, ErrClosed) {
				t.Errorf("Receive = %v, want ErrClosed", err)
			}
		})
		synctest.Wait()
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if !client.closed {
			t.Error("the client is still open")
		}
	})
}

func TestALostConsumerIsReplaced(t *testing.T) {
	tests := []struct {
		name string
		lose func(*fakeConsumer, *fakeClient)
	}{
		{"receive fails", func(c *fakeConsumer, _ *fakeClient) { close(c.broken) }},
		{"the client goes silent while it reconnects", func(_ *fakeConsumer, c *fakeClient) {
			c.asked[0].BackOffPolicyFunc()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first, second := newConsumer(message(1)), newConsumer(message(1), message(2))
				// nil: two attempts to subscribe fail in between
				s, client := start(t, first, nil, nil, second)
				before := receive(t, s)
				tt.lose(first, client)
				if again := receive(t, s); again.ID != before.ID {
					t.Errorf("received %v, want %v again", again.ID, before.ID)
				}
				receive(t, s)
				if _, _, _, closed := first.state(); !closed {
					t.Error("the lost consumer is still open")
				}
				if n := client.attempts(); n != 4 {
					t.Errorf("%d attempts to subscribe, want 4", n)
				}
				if got := s.Counters().Resubscribed; got != 1 {
					t.Errorf("Resubscribed = %d, want 1", got)
				}
				s.Ack(before.ID)
				if err := s.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				if acked, _, _, _ := second.state(); len(acked) != 1 {
					t.Errorf("%d acks reached the new consumer, want 1", len(acked))
				}
			})
		})
	}
}

func TestAReconnectionThatSucceedsLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, client := start(t, newConsumer(message(1)))
		policy := client.asked[0].BackOffPolicyFunc()
		for range 100 { // a broker that is away for minutes
			wait := policy.Next()
			if wait > DefaultMaxBackoff {
				t.Fatalf("a wait of %v", wait)
			}
			elapse(wait)
		}
		policy.Reset()
		elapse(time.Hour)
		receive(t, s)
		if n := client.attempts(); n != 1 {
			t.Errorf("subscribed %d times, want once", n)
		}
	})
}

func TestConnectedKnowsOfEveryConnectionThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newConsumer(), newConsumer()
		s, client := start(t, first, nil, second)
		connected := func(want bool, when string) {
			t.Helper()
			if err := s.Connected(t.Context()); (err == nil) != want {
				t.Errorf("%s: Connected() = %v; want an error: %v", when, err, !want)
			}
		}
		connected(true, "at the start")
		one, other := client.asked[0].BackOffPolicyFunc(), client.asked[0].BackOffPolicyFunc()
		connected(false, "two partitions are lost")
		one.Next()
		one.Reset()
		one.Reset() // nobody says that it comes once
		connected(false, "one of them is back")
		other.Reset()
		connected(true, "both are back")

		close(first.broken)
		synctest.Wait()
		connected(false, "the consumer is gone and the next not there yet")
		elapse(time.Second)
		connected(true, "there is another consumer")
	})
}

func TestAcksWaitForAConsumerAndNeverForACaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newConsumer(message(1)), newConsumer()
		first.gate = make(chan struct{})
		s, _ := start(t, first, nil, second)
		receive(t, s)
		s.Ack(id(1)) // stuck at the gate: the broker is away
		elapse(time.Second)
		for n := int64(2); n < 5000; n++ {
			s.Ack(id(n)) // returns nevertheless
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush without a broker = %v, want the deadline", err)
		}
		close(first.broken)
		synctest.Wait()
		if _, _, _, closed := first.state(); closed {
			t.Error("the consumer was closed while an ack was under way")
		}
		close(first.gate)
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		a, _, _, _ := first.state()
		b, _, _, _ := second.state()
		if len(a)+len(b) != 4999 {
			t.Errorf("%d acks arrived, want 4999", len(a)+len(b))
		}
	})
}

func TestCloseFlushesAndClosesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		consumer := newConsumer(message(1))
		s, client := start(t, consumer)
		receive(t, s)
		s.Ack(id(1))
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if acked, _, _, closed := consumer.state(); len(acked) != 1 || !closed || !client.closed {
			t.Errorf("acked %d, consumer closed %v, client closed %v", len(acked), closed, client.closed)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
}

func TestCloseEndsWithItsContextWhenTheBrokerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		consumer := newConsumer(message(1))
		consumer.gate = make(chan struct{})
		s, _ := start(t, consumer)
		receive(t, s)
		s.Ack(id(1))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begin := time.Now()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close = %v, want the deadline", err)
		}
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("Close took %v", took)
		}
		synctest.Wait()
		if _, _, _, closed := consumer.state(); !closed {
			t.Error("the consumer is still open: its ack would wait for ever")
		}
		close(consumer.gate) // the close ended the wait for the broker
		<-s.closed
	})
}

func TestCloseWhileThereIsNoConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newConsumer()
		s, _ := start(t, first)
		close(first.broken)
		elapse(time.Minute) // attempts to subscribe fail
		s.Nack(id(1))
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// The messages of a batch share an entry: it may be acked only with the
// client's own IDs, which know when the last is done.
func TestMessagesOfABatchKeepTheClientsIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entry := message(5)
		inBatch := func(i int32) fakeMessage {
			m := entry
			m.id = batchID{entry.id, i, 2}
			return m
		}
		consumer := newConsumer(inBatch(0), inBatch(1))
		s, _ := start(t, consumer)
		a, b := receive(t, s), receive(t, s)
		if a.ID == b.ID {
			t.Errorf("both messages are %v", a.ID)
		}
		s.Ack(a.ID)
		s.Nack(b.ID)
		s.Ack(a.ID) // forgotten by now: must not ack the entry
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		acked, nacked, _, _ := consumer.state()
		if len(acked) != 1 || acked[0] != inBatch(0).id {
			t.Errorf("acked %v, want the client's own ID once", acked)
		}
		if len(nacked) != 1 || nacked[0] != inBatch(1).id {
			t.Errorf("nacked %v, want the client's own ID", nacked)
		}
		if got := s.Counters().Batched; got != 2 {
			t.Errorf("Batched = %d, want 2", got)
		}
	})
}

func TestJoinedIsTheOptionsChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		joins := make(chan struct{}, 1)
		o := testOptions()
		o.Joins = joins
		s, err := open(t.Context(), &fakeClient{consumers: []*fakeConsumer{newConsumer()}}, o)
		if err != nil {
			t.Fatal(err)
		}
		joins <- struct{}{}
		<-s.Joined()
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestConsumerOptions(t *testing.T) {
	o := testOptions()
	c := o.consumerOptions()
	if c.Type != pulsar.KeyShared || c.KeySharedPolicy.AllowOutOfOrderDelivery || c.KeySharedPolicy.Mode != pulsar.KeySharedPolicyModeAutoSplit {
		t.Errorf("not the Key_Shared subscription every refresher shares: %+v", c.KeySharedPolicy)
	}
	if c.DLQ != nil || c.RetryEnable || c.NackBackoffPolicy != nil || c.EnableDefaultNackBackoffPolicy {
		t.Error("redeliveries are counted as failures, or delayed by the client")
	}
	if c.NackRedeliveryDelay != 50*time.Millisecond || c.NackPrecisionBit == nil || *c.NackPrecisionBit != 0 {
		t.Error("negative acks are not exact")
	}
	if c.SubscriptionInitialPosition != pulsar.SubscriptionPositionEarliest {
		t.Error("a new subscription would miss what is published already")
	}
	if !c.AckWithResponse || c.AckGroupingOptions.MaxSize > 1 {
		t.Error("acks are not confirmed, or grouped twice")
	}
	client := o.clientOptions()
	if !client.TLSValidateHostname || client.ConnectionTimeout == 0 || client.KeepAliveInterval != 10*time.Second || client.MetricsRegisterer == nil {
		t.Errorf("client options lack a safeguard: %+v", client)
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	tests := []struct {
		name string
		edit func(*Options)
	}{
		{"no URL", func(o *Options) { o.URL = "" }},
		{"a URL that is none", func(o *Options) { o.URL = "pulsar://user:hunter2@[" }},
		{"no topic", func(o *Options) { o.Topic = "" }},
		{"dead letters into the topic", func(o *Options) { o.DeadLetterTopic = o.Topic }},
		{"no receiver queue", func(o *Options) { o.ReceiverQueueSize = -1 }},
		{"a nack delay of a minute", func(o *Options) { o.NackDelay = time.Minute }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions()
			tt.edit(&o)
			_, err := Open(t.Context(), o)
			if err == nil {
				t.Fatal("Open: no error")
			}
			if containsSecret(err) {
				t.Errorf("error %q", err)
			}
		})
	}
	if _, err := open(t.Context(), &fakeClient{}, testOptions()); err == nil {
		t.Error("open without a broker: no error")
	}
}

// start opens a subscription on a client with these consumers, and closes it
// at the end of the test.
func start(t *testing.T, consumers ...*fakeConsumer) (*Subscription, *fakeClient) {
	t.Helper()
	client := &fakeClient{consumers: consumers}
	s, err := open(t.Context(), client, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
	})
	return s, client
}

func receive(t *testing.T, s *Subscription) intake.Delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	d, err := s.Receive(ctx)
	if err != nil {
		t.Fatalf("Receive: %v", err)
	}
	return d
}
