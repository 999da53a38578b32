//go:build integration

package e2e_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// probe changes one calm code after the other and measures how long WeCom
// takes to have it.
type probe struct {
	h       *house
	tenants int
	next    int
	online  map[string]bool
}

// durations of pushes, in no order.
type durations []time.Duration

func (d durations) q(q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func newProbe(h *house, tenants int) *probe {
	return &probe{h: h, tenants: tenants, online: map[string]bool{}}
}

// warmUp brings every calm code to its first list.
func (p *probe) warmUp() {
	for i := range p.tenants {
		for j := range 10 {
			p.h.publish(fmt.Sprint("calm", i), fmt.Sprintf("calm%d-c%d", i, j))
		}
	}
	eventually(p.h.T, 60*time.Second, "every calm code has its first list", func() bool { return p.h.backlog() == 0 })
}

// measure probes for a while, one code at a time, and returns how long each
// took from publish to WeCom.
func (p *probe) measure(d time.Duration) durations {
	var out durations
	for end := time.Now().Add(d); time.Now().Before(end); {
		out = append(out, p.once())
	}
	return out
}

func (p *probe) once() time.Duration {
	p.next++
	tenant := fmt.Sprint("calm", p.next%p.tenants)
	presence, want := roster.OfflineNow, []string{"bob"}
	if p.online[tenant] {
		presence, want = roster.Online, []string{"ann", "bob"}
	}
	p.online[tenant] = !p.online[tenant]
	code := fmt.Sprintf("%s-c0", tenant)
	p.h.must(p.h.db.Facts().SetPresence(p.h.Context(), tenant, "ann", presence))
	began := time.Now()
	p.h.publish(tenant, code)
	deadline := time.Now().Add(30 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !slices.Equal(p.h.listed(tenant, code), want) {
		if time.Now().After(deadline) {
			p.h.Fatalf("code %s did not change within 30 s", code)
		}
		<-tick.C
	}
	return time.Since(began)
}

func event(tenant, code string) refresh.Event {
	return refresh.Event{Tenant: tenant, Code: code, Reason: "test", OccurredAt: time.Now()}
}
