package service

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// scripted answers each update with the next error of its script, then nil.
type scripted struct {
	push.Vendor
	mu     sync.Mutex
	script []error
}

func (s *scripted) Update(context.Context, push.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.script) == 0 {
		return nil
	}
	err := s.script[0]
	s.script = s.script[1:]
	return err
}

func update(t *testing.T, c *concurrency, tenant string) {
	t.Helper()
	_ = c.Update(t.Context(), push.Call{Ref: push.Ref{Tenant: tenant, Code: "c1"}}) // the script says how it ends
}

func TestConcurrencyOfATenantHalvesAndGrowsBack(t *testing.T) {
	tooMany := &push.CallError{Op: "update_contact_way", ErrCode: 45033}
	var applied []int
	c := newConcurrency(&scripted{script: []error{nil, tooMany}}, 8, func(tenant string, n int) {
		if tenant != "acme" {
			t.Errorf("limit of %s changed", tenant)
		}
		applied = append(applied, n)
	})
	for range 2 {
		update(t, c, "acme")
	}
	if diff := cmp.Diff([]int{4}, applied); diff != "" {
		t.Fatalf("limits after a refusal (-want +got):\n%s", diff)
	}
	for range 4 + 5 + 6 + 7 { // as many successes as the limit is, for each step
		update(t, c, "acme")
	}
	if diff := cmp.Diff([]int{4, 5, 6, 7, 8}, applied); diff != "" {
		t.Errorf("limits on the way back (-want +got):\n%s", diff)
	}
	if len(c.limits) != 0 {
		t.Error("a tenant that is back at the ceiling is still remembered")
	}
}

func TestOtherFailuresSayNothingAboutConcurrency(t *testing.T) {
	c := newConcurrency(&scripted{script: []error{
		&push.CallError{ErrCode: 45009}, &push.CallError{ErrCode: -1}, &push.CallError{Unknown: true},
	}}, 8, func(string, int) { t.Error("a limit changed") })
	for range 4 {
		update(t, c, "acme")
	}
}
