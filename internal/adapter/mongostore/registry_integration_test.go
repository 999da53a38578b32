//go:build integration

package mongostore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/registry/registrytest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestRegistryConforms(t *testing.T) {
	registrytest.TestFacts(t, func(t *testing.T, now func() time.Time) registry.Facts { return newWorld(t, now).Registry() })
}

func TestAnswersConform(t *testing.T) {
	registrytest.TestAnswers(t, func(t *testing.T) registry.Answers { return newWorld(t, time.Now).Answers() })
}

func TestTokens(t *testing.T) {
	ctx, now := t.Context(), time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	tokens := newWorld(t, func() time.Time { return now }).Tokens()
	order := access.Order{Tenant: "acme", Scopes: []access.Scope{access.Read, access.Admin}, Note: "crm", ExpiresAt: now.Add(time.Hour)}
	_, token, err := access.Mint(order, now)
	if err != nil {
		t.Fatalf("Mint: %v", err)
	}
	if err := tokens.Create(ctx, token); err != nil {
		t.Fatalf("Create: %v", err)
	}
	if err := tokens.Create(ctx, token); err == nil {
		t.Error("a second token has the ID of the first")
	}
	for _, day := range []string{"20261130", "20261129"} {
		if err := tokens.Used(ctx, token.ID, day); err != nil {
			t.Errorf("Used: %v", err)
		}
	}
	token.LastUsed = "20261130"
	wantToken(t, tokens, token)
	for range 2 {
		if err := tokens.Revoke(ctx, token.ID); err != nil {
			t.Errorf("Revoke: %v", err)
		}
	}
	token.RevokedAt = now
	wantToken(t, tokens, token)
	all, err := tokens.List(ctx, "", 10)
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	if diff := cmp.Diff([]access.Token{token}, all); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if rest, err := tokens.List(ctx, token.ID, 10); err != nil || len(rest) > 0 {
		t.Errorf("after the last: %v, %v", rest, err)
	}
	if _, err := tokens.Token(ctx, "none"); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("an unknown token: %v", err)
	}
	if err := tokens.Revoke(ctx, "none"); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("the revocation of an unknown token: %v", err)
	}
}

func wantToken(t *testing.T, tokens *mongostore.Tokens, want access.Token) {
	t.Helper()
	got, err := tokens.Token(t.Context(), want.ID)
	if err != nil {
		t.Fatalf("Token: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("token (-want +got):\n%s", diff)
	}
}

// A producer's whole code does not take the place of another tenant's.
func TestPutCodesLeavesAnotherTenantsCode(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	mine := roster.Code{ID: "c", Tenant: "acme", Family: roster.Native, Remark: "mine"}
	theirs := roster.Code{ID: "c", Tenant: "globex", Family: roster.Native, Remark: "theirs"}
	for range 2 { // made, then replaced
		if err := w.Facts().PutCodes(ctx, mine); err != nil {
			t.Fatalf("PutCodes: %v", err)
		}
	}
	err := w.Facts().PutCodes(ctx, roster.Code{ID: "other", Tenant: "globex", Family: roster.Native}, theirs)
	if !errors.Is(err, push.ErrWrongTenant) {
		t.Errorf("another tenant's: %v, want %v", err, push.ErrWrongTenant)
	}
	got, err := w.Registry().CodesOf(ctx, "acme", []string{"c"})
	if err != nil || got["c"].Remark != "mine" {
		t.Errorf("the code is %+v, %v", got, err)
	}
}
