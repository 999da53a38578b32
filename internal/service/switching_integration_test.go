//go:build integration

package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// newTenantSite is a site with a tenant of one code, in a mode.
func newTenantSite(t *testing.T, mode roster.Mode) *site {
	t.Helper()
	s := newSite(t)
	err := errors.Join(
		s.db.Facts().PutTenant(t.Context(), roster.Tenant{ID: "acme", Mode: mode}),
		s.db.Facts().PutCodes(t.Context(), roster.Code{ID: "c-1", Tenant: "acme", Family: roster.Native, ConfigID: "cfg"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// order asks for a mode, and gives up the wait for the fan-out, which nobody
// works on here, as soon as it is seen.
func (s *site) order(t *testing.T, order SwitchOrder) (told []fanout.Job, switched bool, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	order.By = "ann"
	order.Progress = func(job fanout.Job) { told = append(told, job); cancel() }
	switched, err = SwitchMode(ctx, s.cfg, order)
	return told, switched, err
}

func (s *site) wantMode(t *testing.T, mode roster.Mode, term int64) {
	t.Helper()
	tenant, err := s.db.Registry().Tenant(t.Context(), "acme")
	if err != nil || tenant.Mode != mode || tenant.Term != term {
		t.Errorf("the tenant is %+v, %v; want mode %q and term %d", tenant, err, mode, term)
	}
}

// wantBook compares what is recorded, the newest first.
func (s *site) wantBook(t *testing.T, want ...string) {
	t.Helper()
	decisions, err := s.db.Decisions().List(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	var book []string
	for _, d := range decisions {
		book = append(book, fmt.Sprintf("%s %s %s: %s, %s", d.By, d.Action, d.Subject, d.State, d.Reason))
	}
	if diff := cmp.Diff(want, book); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// Whoever gives up the wait for the codes has switched all the same, and it is in
// the book.
func TestASwitchIsInTheFactsBeforeItsCodesAre(t *testing.T) {
	s := newTenantSite(t, roster.Live)
	told, _, err := s.order(t, SwitchOrder{Tenant: "acme", Mode: roster.Shadow, Why: "a rehearsal"})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the mode is switched; its fan-out goes on") {
		t.Errorf("the wait ends with %v", err)
	}
	if len(told) == 0 || told[0].Tenant != "acme" || told[0].Why != "tenant_mode" {
		t.Errorf("told of %+v", told)
	}
	s.wantMode(t, roster.Shadow, 1)
	s.wantBook(t, "ann migrate_shadow tenant acme: done, a rehearsal")
}

func TestASwitchToTheModeThatIsThere(t *testing.T) {
	for _, mode := range []roster.Mode{roster.Inherited, roster.Live, roster.Shadow} {
		s := newTenantSite(t, mode)
		to := mode
		if to == roster.Inherited {
			to = roster.Live
		}
		told, switched, err := s.order(t, SwitchOrder{Tenant: "acme", Mode: to, Insist: true})
		if err != nil || switched || len(told) > 0 {
			t.Errorf("%q to %s: switched %v, told %v, %v", mode, to, switched, told, err)
		}
		s.wantMode(t, mode, 0)
	}
}

// A process died between the switch and its announcement: whoever repeats the
// command has it announced, and waits for it.
func TestASwitchThatNobodyWasToldOfIsTold(t *testing.T) {
	s := newTenantSite(t, roster.Live)
	err := s.db.Registry().EditTenant(t.Context(), registry.TenantEdit{Tenant: "acme", Mode: registry.To(roster.Shadow)}, "stamp")
	if err != nil {
		t.Fatal(err)
	}
	told, _, err := s.order(t, SwitchOrder{Tenant: "acme", Mode: roster.Shadow})
	if len(told) == 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("told %v, %v; want its fan-out followed", told, err)
	}
	s.wantMode(t, roster.Shadow, 1)
}

// Another change of the whole tenant takes the fan-out's place: its codes are given
// to the refreshers by that one, and it is waited for.
func TestASwitchFollowsTheFanOutThatTakesItsPlace(t *testing.T) {
	s := newTenantSite(t, roster.Live)
	var epochs []int64
	switched, err := SwitchMode(t.Context(), s.cfg, SwitchOrder{Tenant: "acme", Mode: roster.Shadow, By: "ann", Progress: func(job fanout.Job) {
		epochs = append(epochs, job.Epoch)
		switch len(epochs) {
		case 1:
			request := fanout.Request{Scope: fanout.Scope{Tenant: "acme"}, Why: "newer", At: time.Now(), Key: "newer"}
			if _, err := s.db.FanOuts().Request(t.Context(), request); err != nil {
				t.Error(err)
			}
		case 2:
			job.State = fanout.Done
			if ok, err := s.db.FanOuts().Save(t.Context(), job); !ok || err != nil {
				t.Errorf("end the newer fan-out: %v, %v", ok, err)
			}
		}
	}})
	if diff := cmp.Diff([]int64{1, 2, 2}, epochs); diff != "" || err != nil || !switched {
		t.Errorf("switched %v, %v; epochs followed (-want +got):\n%s", switched, err, diff)
	}
}

func TestATenantThatIsNotReadyIsRefused(t *testing.T) {
	s := newTenantSite(t, roster.Shadow)
	_, _, err := s.order(t, SwitchOrder{Tenant: "acme", Mode: roster.Live})
	refused, is := errors.AsType[*NotReadyError](err)
	if !is || len(refused.Because) != 3 || !strings.Contains(err.Error(), "\n  - No list of the other system is known of 1 code") {
		t.Errorf("refused with %v", err)
	}
	s.wantMode(t, roster.Shadow, 0)
	s.wantBook(t)
	if _, _, err := s.order(t, SwitchOrder{Tenant: "acme", Mode: roster.Live, Insist: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("who insists is told %v", err)
	}
	s.wantMode(t, roster.Live, 1)
}

// An import that has not ended refuses before any report does: what is not
// imported is in none.
func TestAnUnfinishedImportIsRefused(t *testing.T) {
	s := newTenantSite(t, roster.Live)
	job := adoption.Job{Tenant: "acme", Run: "r1", State: adoption.Adopting, Listed: 2, Claim: adoption.Claim{Token: 1}}
	if ok, err := s.db.Imports().Take(t.Context(), adoption.Job{}, job, time.Now()); err != nil || !ok {
		t.Fatalf("store an import: %v, %v", ok, err)
	}
	_, _, err := s.order(t, SwitchOrder{Tenant: "acme", Mode: roster.Live})
	if _, is := errors.AsType[*NotReadyError](err); !is || !strings.Contains(err.Error(), "finish it: rollcall migrate import acme") {
		t.Errorf("refused with %v", err)
	}
	if _, _, err := s.order(t, SwitchOrder{Tenant: "acme", Mode: roster.Shadow}); !errors.Is(err, context.Canceled) {
		t.Errorf("the way back is refused with %v", err)
	}
}

func TestAnUnknownTenantIsSwitchedNowhere(t *testing.T) {
	s := newTenantSite(t, roster.Shadow)
	if _, _, err := s.order(t, SwitchOrder{Tenant: "acne", Mode: roster.Live}); !errors.Is(err, push.ErrUnknownTenant) {
		t.Errorf("live: %v", err)
	}
	if _, _, err := s.order(t, SwitchOrder{Tenant: "acne", Mode: roster.Live, Insist: true}); !errors.Is(err, registry.ErrUnknownTenant) {
		t.Errorf("live, insisting: %v", err)
	}
	if _, _, err := s.order(t, SwitchOrder{Tenant: "acne", Mode: roster.Shadow, Why: "a typo"}); !errors.Is(err, registry.ErrUnknownTenant) {
		t.Errorf("shadow: %v", err)
	}
	s.wantBook(t, "ann migrate_shadow tenant acne: failed, a typo", "ann migrate_live tenant acne: failed, ")
}
