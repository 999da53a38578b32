package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A token is written rc_<id>_<secret>: the ID is 16 characters of a-z and 2-7
// and may be shown, the secret is 256 random bits in URL-safe base64.
const (
	Prefix    = "rc_"
	idLen     = 16
	idBytes   = idLen * 5 / 8
	keyBytes  = 32
	maxBearer = len(Prefix) + idLen + 1 + 43
)

// Hash is what is kept of a token: SHA-256 of all of its text. A hash that is
// slow by design protects secrets that people choose; nobody guesses 256 random
// bits, and this one is cheap enough to be asked with every request.
type Hash [sha256.Size]byte

// Token is a token as it is stored: all but its secret.
type Token struct {
	ID     string
	Hash   Hash
	Tenant string // "" reaches all tenants
	Scopes []Scope
	Note   string // for a person, at most MaxNote characters
	// CreatedAt, ExpiresAt and RevokedAt are in UTC; zero is never.
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt time.Time
	// LastUsed is the day in UTC, as YYYYMMDD, on which the token was last
	// accepted; "" is never.
	LastUsed string
}

// Grant is what the token allows.
func (t Token) Grant() Grant { return Grant{Token: t.ID, Tenant: t.Tenant, Scopes: t.Scopes} }

// Order says what a new token is to be.
type Order struct {
	Tenant    string  // "" reaches all tenants
	Scopes    []Scope // one or more
	Note      string
	ExpiresAt time.Time // zero: never
}

// MaxNote is the most characters of a note.
const MaxNote = 200

// ErrOrder is wrapped by the errors of Mint about the order itself.
var ErrOrder = errors.New("no such token can be made")

// Mint makes a token. The secret is the whole text that the bearer presents; it
// is not kept anywhere, so whoever loses it needs another token.
func Mint(order Order, now time.Time) (secret string, token Token, err error) {
	if err := order.check(now); err != nil {
		return "", Token{}, err
	}
	id := strings.ToLower(base32.StdEncoding.EncodeToString(random(idBytes)))
	secret = Prefix + id + "_" + base64.RawURLEncoding.EncodeToString(random(keyBytes))
	return secret, Token{
		ID: id, Hash: sha256.Sum256([]byte(secret)), Tenant: order.Tenant, Scopes: slices.Clone(order.Scopes),
		Note: order.Note, CreatedAt: now.UTC(), ExpiresAt: order.ExpiresAt.UTC(),
	}, nil
}

func (o Order) check(now time.Time) error {
	switch {
	case len(o.Scopes) == 0:
		return fmt.Errorf("%w: it has no scope", ErrOrder)
	case len([]rune(o.Note)) > MaxNote:
		return fmt.Errorf("%w: its note has more than %d characters", ErrOrder, MaxNote)
	case !o.ExpiresAt.IsZero() && !o.ExpiresAt.After(now):
		return fmt.Errorf("%w: it would have expired already", ErrOrder)
	}
	for _, scope := range o.Scopes {
		if !slices.Contains(Scopes(), scope) {
			return fmt.Errorf("%w: scope %q is not one of %v", ErrOrder, scope, Scopes())
		}
	}
	return nil
}

// Scopes returns every scope.
func Scopes() []Scope { return []Scope{Read, Write, Draw, Admin} }

// random returns n random bytes; crypto/rand does not fail.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// idOf returns the ID within what a bearer presents; false when that cannot be
// a token. It looks at the form alone.
func idOf(bearer string) (string, bool) {
	if len(bearer) != maxBearer || !strings.HasPrefix(bearer, Prefix) {
		return "", false
	}
	id, _, found := strings.Cut(bearer[len(Prefix):], "_")
	return id, found && isID(id)
}

// isID reports whether a text has the form of a token's ID.
func isID(id string) bool {
	for i := range len(id) {
		if c := id[i]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return len(id) == idLen
}
