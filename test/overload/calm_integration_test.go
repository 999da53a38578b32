//go:build integration

package overload_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

// calm are tenants that keep far within their quota: now and then one person
// of one code comes or goes. It measures how long WeCom takes to have it.
type calm struct {
	h     *house
	codes []push.Ref

	mu      sync.Mutex
	away    map[string]bool   // by config ID: its person is off line
	open    map[string]change // by config ID: published, not yet at WeCom
	samples []sample
	late    int // changes that found their code's last one still on its way
}

type change struct {
	published time.Time
	want      []string
}

// sample is how long one change took.
type sample struct {
	published time.Time
	took      time.Duration
}

// calmCodes is how many codes each calm tenant has.
const calmCodes = 10

func newCalm() *calm {
	return &calm{away: map[string]bool{}, open: map[string]change{}}
}

// seed makes the tenants. Each code has a person of its own beside bob.
func (c *calm) seed(h *house, tenants int) {
	h.Helper()
	c.h = h
	for i := range tenants {
		id := fmt.Sprintf("calm%02d", i)
		staff := []roster.Staff{{ID: "bob", Presence: roster.Online}}
		var codes []roster.Code
		for j := range calmCodes {
			staff = append(staff, roster.Staff{ID: fmt.Sprint("ann", j), Presence: roster.Online})
			ref := push.Ref{Tenant: id, Code: fmt.Sprintf("%s-c%d", id, j)}
			codes = append(codes, roster.Code{
				ID: ref.Code, Tenant: id, Members: members(fmt.Sprint("ann", j), "bob"), Switches: roster.Switches{OfflineCheck: true},
			})
		}
		h.tenant(id, staff...)
		h.codes(codes...)
	}
	for j := range calmCodes { // the tenants take turns
		for i := range tenants {
			id := fmt.Sprintf("calm%02d", i)
			c.codes = append(c.codes, push.Ref{Tenant: id, Code: fmt.Sprintf("%s-c%d", id, j)})
		}
	}
}

// warmUp brings every code to its first list.
func (c *calm) warmUp() {
	c.h.Helper()
	for _, ref := range c.codes {
		c.h.must(c.h.producer.Publish(c.h.Context(), event(ref)))
	}
	c.h.eventually(time.Minute, 100*time.Millisecond, "every calm code has its first list", func() bool {
		return !slices.ContainsFunc(c.codes, func(ref push.Ref) bool { return len(c.h.listed(ref)) != 2 })
	})
}

// run changes one code after the other, at the given interval, until ctx ends.
func (c *calm) run(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for next := 0; ; next++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.change(ctx, next%len(c.codes))
		}
	}
}

// change lets the person of a code go, or come back. A change that was begun is
// finished whatever becomes of ctx.
func (c *calm) change(ctx context.Context, i int) {
	ctx = context.WithoutCancel(ctx)
	ref := c.codes[i]
	config, ann := configOf(ref.Code), "ann"+ref.Code[len(ref.Code)-1:]
	presence, want := roster.OfflineNow, []string{"bob"}
	c.mu.Lock()
	if _, under := c.open[config]; under {
		c.late++
		c.mu.Unlock()
		return
	}
	if c.away[config] {
		presence, want = roster.Online, []string{ann, "bob"}
	}
	c.away[config] = !c.away[config]
	c.mu.Unlock()
	if err := c.h.db.Facts().SetPresence(ctx, ref.Tenant, ann, presence); err != nil {
		c.h.Errorf("a calm tenant's fact: %v", err)
		return
	}
	c.mu.Lock()
	c.open[config] = change{published: time.Now(), want: want}
	c.mu.Unlock()
	if err := c.h.producer.Publish(ctx, event(ref)); err != nil {
		c.h.Errorf("a calm tenant's event: %v", err)
	}
}

// onCall closes the change that a call has brought to WeCom.
func (c *calm) onCall(call wecomsim.Call) {
	if call.API != updateAPI || call.ErrCode != 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	under, ok := c.open[call.ConfigID]
	if !ok || !slices.Equal(slices.Sorted(slices.Values(call.Members)), under.want) {
		return
	}
	delete(c.open, call.ConfigID)
	c.samples = append(c.samples, sample{under.published, call.Applied.Sub(under.published)})
}

// lost is how many changes have not reached WeCom.
func (c *calm) lost() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// between returns how long the changes published in a span took. One that has
// not arrived counts as old as it is.
func (c *calm) between(from, to time.Time) durations {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out durations
	for _, s := range c.samples {
		if !s.published.Before(from) && s.published.Before(to) {
			out = append(out, s.took)
		}
	}
	for _, under := range c.open {
		if !under.published.Before(from) && under.published.Before(to) {
			out = append(out, time.Since(under.published))
		}
	}
	return out
}

// durations in no order.
type durations []time.Duration

// q is a quantile, 0 to 1.
func (d durations) q(q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func (d durations) String() string {
	ms := func(q float64) time.Duration { return d.q(q).Round(time.Millisecond) }
	return fmt.Sprintf("p50 %v p95 %v p99 %v worst %v (%d changes)", ms(0.5), ms(0.95), ms(0.99), ms(1), len(d))
}
