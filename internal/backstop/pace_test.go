package backstop

import (
	"fmt"
	"testing"
	"time"
)

// Tenants come and go; the pace remembers those of the last seconds only.
func TestThePaceForgetsTenantsThatWantNothing(t *testing.T) {
	p, now := newPace(10, 1000), time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)
	for i := range 100 {
		tenant := fmt.Sprint(i)
		p.shares([]string{tenant}, now)
		p.spend(tenant, 10)
		now = now.Add(time.Second)
	}
	if n := len(p.tenants); n > 3 {
		t.Errorf("%d tenants are remembered", n)
	}
}
