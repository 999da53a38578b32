//go:build integration

package pulsarbus

import (
	"syscall"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

// How fast a consumer receives and acks, through the adapter and with a bare
// client loop that acks the client's way. One operation is one message; both
// read a topic that was filled before. Compare the two of one run: msgs/s, and
// on a busy machine cpu-ns/op, the processor time of this side.
func BenchmarkReceiveAndAck(b *testing.B) {
	b.Run("adapter", func(b *testing.B) {
		br := filled(b, b.N)
		s := br.open()
		measured(b, func() {
			for range b.N {
				d, err := s.Receive(b.Context())
				br.must(err)
				s.Ack(d.ID)
			}
			br.must(s.Flush(b.Context()))
		})
		br.drained()
	})
	b.Run("bare", func(b *testing.B) {
		br := filled(b, b.N)
		consumer, err := br.client().Subscribe(pulsar.ConsumerOptions{
			Topic: br.topic, SubscriptionName: DefaultSubscription, Type: pulsar.KeyShared,
			SubscriptionInitialPosition: pulsar.SubscriptionPositionEarliest,
		})
		br.must(err)
		defer consumer.Close()
		measured(b, func() {
			for range b.N {
				msg, err := consumer.Receive(b.Context())
				br.must(err)
				br.must(consumer.Ack(msg))
			}
		})
		br.drained()
	})
}

func measured(b *testing.B, run func()) {
	b.Helper()
	before := processorTime(b)
	b.ResetTimer()
	run()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// filled is a topic with n events of 5000 codes that no consumer has seen yet.
func filled(b *testing.B, n int) *broker {
	b.Helper()
	br := newBroker(b, 0)
	p := br.producer()
	keys := codes(5000)
	for left := n; left > 0; left -= len(keys) {
		br.publish(p, "", keys[:min(left, len(keys))]...)
	}
	return br
}
