//go:build integration

package quota

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// A flood of one tenant's callbacks waits in that tenant's lane: another
// tenant's are answered as before, but for the machine's cores, which both need.
func TestAFloodOfOneTenantIsNotAnothers(t *testing.T) {
	const floodConnections, samples = 200, 60
	h := newHouse(t, "ROLLCALL_INGRESS_CALLBACK_PLACES=4", "ROLLCALL_INGRESS_CALLBACK_WAITING=150")
	for _, tenant := range []string{"calm", "flood"} {
		h.addTenant(roster.Tenant{ID: tenant})
		h.must(h.db.Facts().PutStaff(t.Context(), tenant, roster.Staff{ID: "s"}))
		h.must(h.db.Facts().PutCodes(t.Context(), roster.Code{
			ID: tenant + "-c", Tenant: tenant, ConfigID: "cfg", Family: roster.Native, State: tenant + "-c",
			Members: []roster.Member{{Staff: "s"}},
		}))
	}
	url := h.start("ingress").URL()
	w := newWeCom(h.codecs)
	var customer atomic.Int64
	send := func(ctx context.Context, tenant string) int {
		status, _ := w.post(ctx, url, told{
			tenant: tenant, event: "change_external_contact", change: "add_external_contact", staff: "s",
			customer: fmt.Sprintf("wm%d", customer.Add(1)), state: tenant + "-c", at: time.Now(),
		})
		return status
	}
	measure := func() (p50, p95 time.Duration) {
		var took []time.Duration
		tick := time.NewTicker(40 * time.Millisecond)
		defer tick.Stop()
		for range samples {
			<-tick.C
			begun := time.Now()
			if status := send(t.Context(), "calm"); status != http.StatusOK {
				t.Errorf("a callback of the calm tenant: status %d", status)
			}
			took = append(took, time.Since(begun))
		}
		slices.Sort(took)
		return took[len(took)/2], took[len(took)*95/100]
	}
	measure() // warm
	calm50, calm95 := measure()

	flooding, stop := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	var answered, refused atomic.Int64
	for range floodConnections {
		flood.Go(func() {
			for flooding.Err() == nil {
				switch send(flooding, "flood") {
				case http.StatusOK:
					answered.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
				}
			}
		})
	}
	flood50, flood95 := measure()
	stop()
	flood.Wait()
	t.Logf("another tenant's answers: calm p50 %v, p95 %v; beside a flood of %d connections (%d taken, %d refused) p50 %v, p95 %v: %.1f and %.1f times",
		calm50.Round(100*time.Microsecond), calm95.Round(100*time.Microsecond), floodConnections, answered.Load(), refused.Load(),
		flood50.Round(100*time.Microsecond), flood95.Round(100*time.Microsecond),
		float64(flood50)/float64(calm50), float64(flood95)/float64(calm95))
	if refused.Load() == 0 {
		t.Error("nothing of the flood was refused: it was none")
	}
	// In the flood's own lane a callback waits for 150 others, 4 at a time.
	if flood95 > time.Second {
		t.Errorf("another tenant's callbacks took %v at p95 beside a flood", flood95)
	}
}
