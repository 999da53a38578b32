//go:build integration

package broker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// flow publishes events of ever new keys at a steady pace and knows when.
type flow struct {
	tp     *topic
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu   sync.Mutex
	sent map[string]time.Time
	next int
}

const flowEvery = 5 * time.Millisecond

func startFlow(tp *topic) *flow {
	ctx, cancel := context.WithCancel(tp.Context())
	f := &flow{tp: tp, cancel: cancel, sent: map[string]time.Time{}}
	f.ended.Go(func() { f.run(ctx) })
	return f
}

func (f *flow) run(ctx context.Context) {
	tick := time.NewTicker(flowEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f.mu.Lock()
		f.next++
		code := fmt.Sprintf("other%07d", f.next)
		f.sent[code] = time.Now()
		f.mu.Unlock()
		event := refresh.Event{Tenant: "other", Code: code, Reason: "test", OccurredAt: time.Now()}
		f.tp.producer.PublishAsync(context.WithoutCancel(ctx), event, func(err error) {
			if err != nil {
				f.tp.Errorf("publish for %s: %v", code, err)
			}
		})
	}
}

func (f *flow) stop() {
	f.cancel()
	f.ended.Wait()
}

// during watches for a while and returns the longest wait, from publish to the
// first refresh, of the keys published in it.
func (f *flow) during(t *testing.T, d time.Duration, consumers ...*consumer) time.Duration {
	t.Helper()
	f.mu.Lock()
	from := f.next
	f.mu.Unlock()
	watch := time.NewTimer(d)
	<-watch.C
	f.mu.Lock()
	to := f.next
	f.mu.Unlock()
	var worst time.Duration
	eventually(t, 2*maxHold, "every key of the flow is refreshed", func() bool {
		first := map[string]time.Time{}
		for _, c := range consumers {
			for _, r := range c.ran() {
				if at, ok := first[r.code]; !ok || r.at.Before(at) {
					first[r.code] = r.at
				}
			}
		}
		worst = 0
		f.mu.Lock()
		defer f.mu.Unlock()
		for i := from + 1; i <= to; i++ {
			code := fmt.Sprintf("other%07d", i)
			at, ok := first[code]
			if !ok {
				return false
			}
			worst = max(worst, at.Sub(f.sent[code]))
		}
		return true
	})
	return worst
}
