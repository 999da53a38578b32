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
	away    map[string]bool // codes whose person is off line
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

// probeCodes is how many codes each calm tenant has, each with a person of its
// own beside bob.
const probeCodes = 10

func newProbe(h *house, tenants int) *probe {
	h.Helper()
	for i := range tenants {
		id := fmt.Sprint("calm", i)
		h.tenant(id, "bob")
		for j := range probeCodes {
			ann := fmt.Sprint("ann", j)
			h.must(h.db.Facts().PutStaff(h.Context(), id, roster.Staff{ID: ann, Presence: roster.Online}))
			h.code(roster.Code{ID: fmt.Sprintf("%s-c%d", id, j), Tenant: id, Switches: roster.Switches{OfflineCheck: true}}, ann, "bob")
		}
	}
	return &probe{h: h, tenants: tenants, away: map[string]bool{}}
}

// warmUp brings every calm code to its first list.
func (p *probe) warmUp() {
	for i := range p.tenants {
		for j := range probeCodes {
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

// once lets the person of the next code go, or come back, and waits for WeCom.
func (p *probe) once() time.Duration {
	p.next++
	tenant, j := fmt.Sprint("calm", p.next%p.tenants), p.next/p.tenants%probeCodes
	code, ann := fmt.Sprintf("%s-c%d", tenant, j), fmt.Sprint("ann", j)
	presence, want := roster.OfflineNow, []string{"bob"}
	if p.away[code] {
		presence, want = roster.Online, []string{ann, "bob"}
	}
	p.away[code] = !p.away[code]
	p.h.must(p.h.db.Facts().SetPresence(p.h.Context(), tenant, ann, presence))
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
