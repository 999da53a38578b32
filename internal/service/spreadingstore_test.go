package service

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
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

// The company is told of a suspension once, and of a code on which nobody is
// left once a day, before that is recorded.
func TestTheCompanyIsTold(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	store := pushtest.NewStore()
	store.PutTenant(roster.Tenant{ID: "acme"})
	ref := push.Ref{Tenant: "acme", Code: "c1"}
	heard := &heard{}
	s := spreadingStore{store, heard, heard, func() time.Time { return at }}
	suspension := roster.Suspension{Since: at, NextProbe: at.Add(time.Minute)}
	for _, seen := range []time.Time{{}, {}, suspension.NextProbe} { // won, lost, a probe
		if _, err := s.Suspend(t.Context(), "acme", seen, suspension); err != nil {
			t.Fatal(err)
		}
	}
	for _, notes := range [][]reason.Reason{{reason.NobodyLeft}, {reason.MemberCap}, nil} {
		if ok, err := s.Commit(t.Context(), ref, push.Committed{Notes: notes}, nil, time.Time{}); err != nil || !ok {
			t.Fatalf("commit: %v, %v", ok, err)
		}
	}
	want := []any{
		notify.Notice{Key: "suspended/1796029200", Tenant: "acme", Kind: notify.TenantSuspended, At: at},
		notify.Notice{Key: "nobody_left/c1/2026-11-30", Tenant: "acme", Kind: notify.CodeNobodyLeft, Code: "c1", At: at},
	}
	if diff := cmp.Diff(want, heard.all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	heard.err = errors.New("away")
	ref.Code = "c2"
	if ok, err := s.Commit(t.Context(), ref, push.Committed{Notes: []reason.Reason{reason.NobodyLeft}, Hash: "h"}, nil, time.Time{}); ok || !errors.Is(err, heard.err) {
		t.Errorf("a commit of which nobody could be told: %v, %v", ok, err)
	}
	if _, record, _ := store.Load(t.Context(), ref); record.Committed.Hash != "" {
		t.Error("it is recorded all the same")
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
