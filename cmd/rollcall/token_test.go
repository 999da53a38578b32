package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
)

func TestPrintTokens(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	order := access.Order{Tenant: "acme", Scopes: []access.Scope{access.Read, access.Write}, Note: "crm"}
	secret, good, err := access.Mint(order, now)
	if err != nil {
		t.Fatalf("Mint: %v", err)
	}
	revoked, old := good, good
	revoked.RevokedAt, revoked.LastUsed = now, "20261129"
	old.ExpiresAt, old.Tenant = now, ""
	var out strings.Builder
	if err := printTokens(&out, seq(nil, good, revoked, old), now); err != nil {
		t.Fatalf("printTokens: %v", err)
	}
	for _, want := range []string{
		good.ID, "acme", "read,write", "good ", "revoked 2026-11-30", "expired 2026-11-30", "(all)", "never", "20261129", "crm", "3 tokens",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), secret[len(secret)-20:]) {
		t.Error("the secret is shown")
	}
}

func TestPrintTokensOfNobodyAndOfAStoreThatIsAway(t *testing.T) {
	var out strings.Builder
	if err := printTokens(&out, seq[access.Token](nil), time.Now()); err != nil || !strings.Contains(out.String(), "no tokens") {
		t.Errorf("no tokens: %q, %v", out.String(), err)
	}
	away := errors.New("away")
	if err := printTokens(&out, seq[access.Token](away), time.Now()); !errors.Is(err, away) {
		t.Errorf("a store that is away: %v", err)
	}
}

func TestDescribeTokenSaysWhatItIsGoodFor(t *testing.T) {
	at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	got := describeToken(access.Token{ID: "kq3m", Tenant: "acme", Scopes: []access.Scope{access.Draw}, ExpiresAt: at})
	if want := "Token kq3m: draw, tenant acme, until 2027-01-01T00:00:00Z. It is not shown again."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := describeToken(access.Token{ID: "kq3m", Scopes: []access.Scope{access.Admin}}); !strings.Contains(got, "all tenants, for ever") {
		t.Errorf("of a token without limits it says %q", got)
	}
}
