package access

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func mint(t *testing.T, order Order) (string, Token) {
	t.Helper()
	if order.Scopes == nil {
		order.Scopes = []Scope{Read}
	}
	secret, token, err := Mint(order, noon)
	if err != nil {
		t.Fatalf("Mint: %v", err)
	}
	return secret, token
}

func TestMint(t *testing.T) {
	secret, token := mint(t, Order{Tenant: "acme", Scopes: []Scope{Read, Draw}, Note: "crm", ExpiresAt: noon.Add(time.Hour)})
	other, another := mint(t, Order{})
	if secret == other || token.ID == another.ID {
		t.Error("two tokens are alike")
	}
	if id, ok := idOf(secret); !ok || id != token.ID || !strings.HasPrefix(secret, "rc_"+token.ID+"_") {
		t.Errorf("%q does not show the ID %q", secret, token.ID)
	}
	if random := len(secret) - len("rc_"+token.ID+"_"); random*6 < 256 {
		t.Errorf("the secret has %d bits", random*6)
	}
	if token.Hash != sha256.Sum256([]byte(secret)) {
		t.Error("the hash is of something else")
	}
	if g := token.Grant(); g.Tenant != "acme" || g.Token != token.ID || !g.Allows(Draw, "acme") || g.Allows(Write, "acme") || g.Allows(Read, "globex") {
		t.Errorf("grant %+v", g)
	}
}

func TestMintRefusesWhatIsNoToken(t *testing.T) {
	for name, order := range map[string]Order{
		"no scope":        {},
		"unknown scope":   {Scopes: []Scope{"root"}},
		"expired already": {Scopes: []Scope{Read}, ExpiresAt: noon},
		"a long note":     {Scopes: []Scope{Read}, Note: strings.Repeat("长", MaxNote+1)},
	} {
		if _, _, err := Mint(order, noon); !errors.Is(err, ErrOrder) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzIDOf(f *testing.F) {
	secret, _, err := Mint(Order{Scopes: []Scope{Read}}, noon)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{secret, "", "rc_", secret + "x", strings.ToUpper(secret), "rc_aaaaaaaaaaaaaaaa_"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, bearer string) {
		id, ok := idOf(bearer)
		if ok && (len(id) != idLen || strings.ContainsAny(id, "/.$\x00 ") || !strings.HasPrefix(bearer, "rc_"+id+"_")) {
			t.Errorf("%q has the ID %q", bearer, id)
		}
	})
}
