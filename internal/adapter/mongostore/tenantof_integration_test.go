//go:build integration

package mongostore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestTenantOf(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	code := roster.Code{ID: "c1", Tenant: "acme", ConfigID: "cfg", Family: roster.Sequenced}
	if err := w.Database.Facts().PutCodes(ctx, code); err != nil {
		t.Fatal(err)
	}
	if tenant, err := w.Store().TenantOf(ctx, "c1"); tenant != "acme" || err != nil {
		t.Errorf("TenantOf = %q, %v", tenant, err)
	}
	if tenant, err := w.Store().TenantOf(ctx, "c2"); tenant != "" || !errors.Is(err, push.ErrUnknownCode) {
		t.Errorf("of no code: %q, %v", tenant, err)
	}
}
