//go:build integration

package e2e_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

// A quarantine ends, and nobody says so: the record expected it, the keeper
// publishes, the refresher pushes.
func TestTimeAloneBringsAMemberBack(t *testing.T) {
	h := newHouse(t, wecomsim.Options{})
	h.tenant("acme", "ann", "bob")
	h.code(roster.Code{ID: "c1", Tenant: "acme"}, "ann", "bob")
	ends := time.Now().Add(2 * time.Second)
	h.must(h.db.Store().Quarantine(t.Context(), "acme", "bob", ends, "test"))
	h.refresher("r1")
	h.run("k1", func(ctx context.Context) error { return service.RunKeeper(ctx, h.cfg, "test") })
	h.publish("acme", "c1")
	eventually(t, 20*time.Second, "bob is out", func() bool { return slices.Equal(h.listed("acme", "c1"), []string{"ann"}) })
	eventually(t, 20*time.Second, "bob is back", func() bool { return slices.Equal(h.listed("acme", "c1"), []string{"ann", "bob"}) })
	if now := time.Now(); now.Before(ends) {
		t.Errorf("bob was listed %v before his quarantine ended", ends.Sub(now))
	}
	// The next one is that of the lane, in some weeks.
	eventually(t, 20*time.Second, "the change is finished", func() bool {
		tenants, err := h.db.Changes().DueTenants(t.Context(), time.Now().Add(time.Hour))
		return err == nil && len(tenants) == 0
	})
}
