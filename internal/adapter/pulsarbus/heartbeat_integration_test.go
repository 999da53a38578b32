//go:build integration

package pulsarbus

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/intake"
)

// Every partition gets a heartbeat with each beat, and nothing of it is left at
// the broker.
func TestAHeartbeatReachesEveryPartition(t *testing.T) {
	t.Parallel()
	for _, partitions := range []int{0, 3} {
		t.Run(fmt.Sprintf("%d partitions", partitions), func(t *testing.T) {
			t.Parallel()
			b := newBroker(t, partitions)
			var heard atomic.Int64
			s := b.open(func(o *Options) { o.OnHeartbeat = func(time.Duration) { heard.Add(1) } })
			b.worker(s, func(d intake.Delivery) { t.Errorf("received %+v", d) })
			heart, err := NewHeart(b.options())
			b.must(err)
			t.Cleanup(heart.Close)
			const beats = 4
			for range beats {
				b.must(heart.Beat(t.Context()))
			}
			want := int64(beats * max(1, partitions))
			eventually(t, 10*time.Second, func() error {
				if n := heard.Load(); n != want {
					return fmt.Errorf("%d heartbeats, want %d", n, want)
				}
				return nil
			})
			b.drained()
			each, err := b.admin.topicStats(t.Context(), b.path())
			b.must(err)
			for n, p := range each {
				if p.MsgInCounter != beats {
					t.Errorf("partition %d has taken %d messages, want %d", n, p.MsgInCounter, beats)
				}
			}
		})
	}
}
