package ident_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// Whatever can be an ID here can be named in an event, and the other way round:
// one byte more or less and a code could be written but never recomputed.
func TestItIsTheRuleOfTheSDK(t *testing.T) {
	ids := []string{
		"", "wwd08c8e7c775ab44d", "A-z_0.9:x", "码", "a\x00", ".", "..",
		strings.Repeat("x", 127), strings.Repeat("x", 128), strings.Repeat("x", 129),
	}
	for c := range 256 {
		ids = append(ids, string([]byte{byte(c)}), string([]byte{'a', byte(c), 'b'}))
	}
	valid := refresh.Event{Tenant: "t", Code: "c", Reason: "r", OccurredAt: time.Unix(1, 0)}
	yes := 0
	for _, id := range ids {
		tenant, code := valid, valid
		tenant.Tenant, code.Code = id, id
		if got, want := ident.Tenant(id), tenant.Validate() == nil; got != want {
			t.Errorf("Tenant(%q) = %t, the SDK says %t", id, got, want)
		}
		if got, want := ident.Code(id), code.Validate() == nil; got != want {
			t.Errorf("Code(%q) = %t, the SDK says %t", id, got, want)
		}
		if ident.Tenant(id) {
			yes++
		}
	}
	if want := 2*66 + 6; yes != want {
		t.Errorf("%d of the texts can be an ID, want %d", yes, want)
	}
}
