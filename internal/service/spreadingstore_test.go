package service

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// A quarantine that one code's refresh finds reaches all the member's codes, and
// his company; one that is not stored reaches nobody.
func TestAQuarantineSpreads(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	store := pushtest.NewStore()
	store.PutTenant(roster.Tenant{ID: "acme"})
	store.PutStaff("acme", roster.Staff{ID: "ann"})
	heard := &heard{}
	s := spreadingStore{store, heard, heard, func() time.Time { return at }}

	if err := s.Quarantine(t.Context(), "acme", "nobody", at.Add(time.Hour), "errcode 60111"); err == nil {
		t.Error("a quarantine of somebody who is not there was stored")
	}
	if err := s.Quarantine(t.Context(), "acme", "ann", at.Add(time.Hour), "errcode 60111"); err != nil {
		t.Fatal(err)
	}
	key := "quarantined/ann/1796032800"
	want := []any{
		fanout.Request{Scope: fanout.Scope{Tenant: "acme", Staff: "ann"}, Why: "quarantined", At: at, Key: key},
		notify.Notice{Key: key, Tenant: "acme", Kind: notify.MemberQuarantined, Staff: "ann", At: at},
	}
	if diff := cmp.Diff(want, heard.all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	heard.err = errors.New("away")
	if err := s.Quarantine(t.Context(), "acme", "ann", at.Add(2*time.Hour), "errcode 60111"); !errors.Is(err, heard.err) {
		t.Errorf("a fan-out that is not durable: %v", err)
	}
}

// heard keeps what is requested and filed.
type heard struct {
	all []any
	err error
}

func (h *heard) Request(_ context.Context, r fanout.Request) (fanout.Ticket, error) {
	h.all = append(h.all, r)
	return fanout.Ticket{}, h.err
}

func (h *heard) File(_ context.Context, n notify.Notice) error {
	h.all = append(h.all, n)
	return h.err
}
