//go:build integration

package e2e_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

// TestRefusedMembersAreLeftOut: of a hundred members two cannot be listed, and
// WeCom does not say who.
func TestRefusedMembersAreLeftOut(t *testing.T) {
	h := newHouse(t, wecomsim.Options{})
	var staff, want []string
	for i := range 100 {
		id := fmt.Sprintf("m%02d", i)
		staff = append(staff, id)
		if id != "m17" && id != "m80" {
			want = append(want, id)
		}
	}
	h.tenant("acme", staff...)
	h.code(roster.Code{ID: "c1", Tenant: "acme"}, staff...)
	h.must(h.sim.SetStaff("corp-acme",
		wecomsim.Staff{UserID: "m17", NotActivated: true}, wecomsim.Staff{UserID: "m80", NotVerified: true}))
	h.refresher("r1")
	h.publish("acme", "c1")
	eventually(t, 30*time.Second, "the others are at WeCom", func() bool { return slices.Equal(h.listed("acme", "c1"), want) })
	eventually(t, 10*time.Second, "the event is acked", func() bool { return h.backlog() == 0 })
	facts, record, err := h.db.Store().Load(t.Context(), push.Ref{Tenant: "acme", Code: "c1"})
	h.must(err)
	for _, id := range staff {
		if quarantined := facts.Staff[id].QuarantinedUntil.After(time.Now()); quarantined != !slices.Contains(want, id) {
			t.Errorf("%s in quarantine: %v", id, quarantined)
		}
	}
	t.Logf("found with %d pushes", record.Epoch)
	if record.Epoch > 19 {
		t.Errorf("%d pushes; two of a hundred take at most 19", record.Epoch)
	}
}

// TestRefusedCredentialsSuspendTheTenant: of forty codes few call WeCom with a
// secret that it refuses, and all are pushed once the secret is the right one.
func TestRefusedCredentialsSuspendTheTenant(t *testing.T) {
	const codes = 40
	h := newHouse(t, wecomsim.Options{})
	h.tenant("acme", "ann")
	right := rand.Text()
	h.must(h.sim.SetCorp(wecomsim.Corp{ID: "corp-acme", OpenRoster: true, Apps: []wecomsim.App{{Secret: right}}}))
	for i := range codes {
		h.code(roster.Code{ID: fmt.Sprint("c", i), Tenant: "acme"}, "ann")
	}
	h.refresher("r1")
	for i := range codes {
		h.publish("acme", fmt.Sprint("c", i))
	}
	ref := push.Ref{Tenant: "acme", Code: "c0"}
	eventually(t, 20*time.Second, "the tenant is suspended", func() bool { return h.suspension(ref).Active() })
	eventually(t, 20*time.Second, "all its codes wait", func() bool { return h.backlog() == codes })
	if n := h.sim.Counters().Of("gettoken", 40001); n > 8 {
		t.Errorf("%d calls with the wrong secret; want those that were in flight, 8 at most", n)
	}
	h.must(h.db.Facts().PutCredentials(t.Context(), "acme", "corp-acme", right))
	eventually(t, 60*time.Second, "every code is pushed", func() bool {
		for i := range codes {
			if !slices.Equal(h.listed("acme", fmt.Sprint("c", i)), []string{"ann"}) {
				return false
			}
		}
		return true
	})
	if s := h.suspension(ref); s.Active() {
		t.Errorf("still suspended: %+v", s)
	}
}

func (h *house) suspension(ref push.Ref) roster.Suspension {
	h.Helper()
	facts, err := h.db.Store().Facts(h.Context(), ref)
	h.must(err)
	return facts.Tenant.Suspension
}
