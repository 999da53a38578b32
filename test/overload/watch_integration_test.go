//go:build integration

package overload_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/test/fleet"
)

// watch samples what a storm must not fill: the refreshers' memory and what
// waits in them un-acked, as they say and as the broker says.
type watch struct {
	h     *house
	every time.Duration

	mu      sync.Mutex
	samples int
	peak    map[string]load // by instance
	trouble error           // of the last sample that could not be taken
}

// load is the most that one instance was seen with.
type load struct {
	unacked  int64         // messages the broker has delivered to it and got no ack for
	held     int           // codes that wait in it
	runnable int           // codes that wait for a worker
	resident int64         // bytes
	cpu      time.Duration // since its start
	blocked  bool          // the broker stopped delivering to it
}

func (l load) max(o load) load {
	return load{
		unacked: max(l.unacked, o.unacked), held: max(l.held, o.held), runnable: max(l.runnable, o.runnable),
		resident: max(l.resident, o.resident), cpu: max(l.cpu, o.cpu), blocked: l.blocked || o.blocked,
	}
}

const mebibyte = 1 << 20

func (l load) String() string {
	return fmt.Sprintf("un-acked %d, held %d, runnable %d, resident %d MiB; %.1f s of CPU", l.unacked, l.held, l.runnable, l.resident/mebibyte, l.cpu.Seconds())
}

func newWatch(h *house, every time.Duration) *watch {
	return &watch{h: h, every: every, peak: map[string]load{}}
}

// run samples until ctx ends.
func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		w.sample(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *watch) sample(ctx context.Context) {
	unacked, err := w.consumers(ctx)
	if err != nil && ctx.Err() == nil {
		w.note(func() { w.trouble = err })
	}
	for _, m := range w.h.fleet.Members() {
		if !strings.HasPrefix(m.Name(), "refresher") {
			continue
		}
		now, err := w.of(ctx, m)
		if err != nil && ctx.Err() == nil {
			w.note(func() { w.trouble = err })
		}
		now.unacked, now.blocked = unacked[m.Name()].Unacked, unacked[m.Name()].Blocked
		w.note(func() { w.peak[m.Name()] = w.peak[m.Name()].max(now) })
	}
	w.note(func() { w.samples++ })
}

func (w *watch) note(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// of asks one refresher and the kernel.
func (w *watch) of(ctx context.Context, m *fleet.Member) (load, error) {
	figures := w.h.fleet.Of(ctx, m)
	usage, err := m.Usage()
	return load{
		held:     int(figures.Sum("rollcall_backlog", `state="held"`)),
		runnable: int(figures.Sum("rollcall_backlog", `state="runnable"`)),
		resident: usage.Peak,
		cpu:      usage.CPU,
	}, err
}

// consumer is what the broker says of one.
type consumer struct {
	Name    string `json:"consumerName"`
	Unacked int64  `json:"unackedMessages"`
	Blocked bool   `json:"blockedConsumerOnUnackedMsgs"`
}

// consumers asks the broker, without the counts that cost it work.
func (w *watch) consumers(ctx context.Context) (map[string]consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	address := w.h.servers.PulsarAdminURL + "/admin/v2/" + strings.Replace(w.h.topic, "://", "/", 1) + "/stats"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the broker: %w", err)
	}
	defer func() { _ = answer.Body.Close() }() // read to its end
	var stats struct {
		Subscriptions map[string]struct {
			Consumers []consumer `json:"consumers"`
		} `json:"subscriptions"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&stats); err != nil {
		return nil, fmt.Errorf("read the broker's answer: %w", err)
	}
	byName := map[string]consumer{}
	for _, c := range stats.Subscriptions[subscription].Consumers {
		byName[c.Name] = c
	}
	return byName, nil
}
