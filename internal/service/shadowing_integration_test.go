//go:build integration

package service

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

// A tenant in shadow mode on a real store: an old system reports, a refresher
// has left its verdict, a keeper compares, and a person reads why they differ.
func TestATenantInShadowModeOnARealStore(t *testing.T) {
	s := newSite(t)
	secret, _, err := CreateToken(t.Context(), s.cfg, access.Order{Scopes: access.Scopes()})
	if err != nil {
		t.Fatalf("CreateToken: %v", err)
	}
	s.token = secret
	s.want(t, 201, "PUT", "/v1/tenants/acme", `{}`)
	s.want(t, 201, "PUT", "/v1/tenants/acme/codes/c-1", `{"config_id":"cfg","family":"native","members":[{"staff":"ann"},{"staff":"bob"}]}`)
	report := func() string { return `{"users":["ann","bob"],"at":"` + time.Now().Format(time.RFC3339Nano) + `"}` }
	wantOutcome := func(want string) {
		t.Helper()
		if got := s.want(t, 200, "POST", "/v1/tenants/acme/codes/c-1/pushed", report()); got != `{"outcome":"`+want+"\"}\n" {
			t.Errorf("outcome %s, want %s", got, want)
		}
	}
	wantOutcome("not_in_shadow")
	s.want(t, 200, "PUT", "/v1/tenants/acme/mode", `{"mode":"shadow"}`)
	wantOutcome("recorded")
	wantOutcome("repeated")

	err = s.db.Shadows().Note(t.Context(), push.Ref{Tenant: "acme", Code: "c-1"}, push.Shadow{
		Members: []string{"ann"}, At: time.Now(),
		Why: []roster.Judgement{{Staff: "ann", Included: true, Reason: reason.Eligible}, {Staff: "bob", Reason: reason.RemovedToday}},
	})
	if err != nil {
		t.Fatalf("Note: %v", err)
	}
	sweep := func(settle time.Duration) shadow.Compared {
		t.Helper()
		s.cfg.Shadow.Settle = settle
		comparer, err := NewComparer(s.cfg, s.db, noop.NewMeterProvider().Meter(""), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatalf("NewComparer: %v", err)
		}
		done, err := comparer.Sweep(t.Context())
		if err != nil {
			t.Fatalf("Sweep: %v", err)
		}
		return done
	}
	if done := sweep(s.cfg.Shadow.Settle); done != (shadow.Compared{}) {
		t.Errorf("Sweep before the settle time = %+v", done)
	}
	if done := sweep(time.Nanosecond); done != (shadow.Compared{Mismatched: 1}) {
		t.Errorf("Sweep = %+v", done)
	}

	got, err := MigrationReport(t.Context(), s.cfg, "acme")
	if err != nil {
		t.Fatalf("MigrationReport: %v", err)
	}
	cause := shadow.Cause{Kind: shadow.Lists, Reason: reason.RemovedToday}
	wantCodes := shadow.Codes{Total: 1, InShadow: 1, WithVerdict: 1, Reported: 1, Compared: 1, Mismatching: 1}
	if got.Codes != wantCodes || got.Ready || !cmp.Equal(got.Causes, []shadow.CauseCount{{Cause: cause, Codes: 1}}) || got.Today.Mismatched != 1 {
		t.Errorf("%+v", got)
	}
	var served shadow.Readiness
	if err := json.Unmarshal([]byte(s.want(t, 200, "GET", "/v1/tenants/acme/migration", "")), &served); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, served, cmpopts.IgnoreFields(shadow.Readiness{}, "At")); diff != "" {
		t.Errorf("(-command line +API):\n%s", diff)
	}
}
