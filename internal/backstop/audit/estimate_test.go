package audit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
)

func TestEstimate(t *testing.T) {
	for name, tt := range map[string]struct {
		scale audit.Scale
		want  audit.Estimate
	}{
		"six million codes, many tenants": {
			audit.Scale{Codes: 6_000_000, Largest: 20_000, TenantRate: 39.5, TotalRate: 158, Share: 0.1, WalkRate: 250, Keepers: 2},
			audit.Estimate{Calls: 6_000_000, SweepAlone: 37975 * time.Second, SweepShared: 379750 * time.Second, Audit: 12000 * time.Second},
		},
		"one tenant has them all": {
			audit.Scale{Codes: 395_000, Largest: 395_000, TenantRate: 39.5, TotalRate: 158, WalkRate: 100},
			audit.Estimate{Calls: 395_000, SweepAlone: 10_000 * time.Second, Audit: 3950 * time.Second},
		},
		"nothing": {audit.Scale{}, audit.Estimate{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.scale.Of()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
