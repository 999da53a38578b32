package service

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestWhatOnlyAPersonCanMendIsTold(t *testing.T) {
	store := pushtest.NewStore()
	store.PutTenant(roster.Tenant{ID: "acme"})
	store.PutStaff("acme", roster.Staff{ID: "ann"})
	ref := push.Ref{Tenant: "acme", Code: "c1"}
	store.PutCode(roster.Code{ID: "c1", Tenant: "acme"})
	var told []reason.Reason
	s := alertingStore{store, func(_ context.Context, al alert.Alert) { told = append(told, al.Kind) }}
	probe := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	steps := []struct {
		name string
		do   func() error
		want []reason.Reason
	}{
		{"a quarantine", func() error { return s.Quarantine(t.Context(), "acme", "ann", probe, "errcode 60111") }, []reason.Reason{reason.Quarantined}},
		{"a quarantine that is not stored", func() error { _ = s.Quarantine(t.Context(), "acme", "nobody", probe, ""); return nil }, nil},
		{"a suspension", func() error { return suspend(t, s, time.Time{}, probe) }, []reason.Reason{reason.Suspended}},
		{"a suspension by somebody else before", func() error { return suspend(t, s, time.Time{}, probe) }, nil},
		{"a probe", func() error { return suspend(t, s, probe, probe.Add(time.Minute)) }, nil},
		{"few calls open", func() error { return loadWith(t, s, store, ref, manyIntents-1) }, nil},
		{"many calls open", func() error { return loadWith(t, s, store, ref, manyIntents) }, []reason.Reason{reason.Unsettled}},
	}
	for _, step := range steps {
		told = nil
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, told); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

func suspend(t *testing.T, s alertingStore, seen, next time.Time) error {
	_, err := s.Suspend(t.Context(), "acme", seen, roster.Suspension{NextProbe: next})
	return err
}

func loadWith(t *testing.T, s alertingStore, store *pushtest.Store, ref push.Ref, intents int) error {
	store.PutRecord(ref, push.Record{Intents: make([]push.Intent, intents)})
	_, _, err := s.Load(t.Context(), ref)
	return err
}
