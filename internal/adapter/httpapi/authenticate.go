package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/ratelimit"
)

// Verifier turns what a bearer presents into a grant. access.ErrUnknown,
// ErrExpired and ErrRevoked refuse him; any other error says that nobody could
// be asked.
type Verifier interface {
	Verify(ctx context.Context, bearer string) (access.Grant, error)
}

// maxPaces bounds how many tokens are told apart.
const maxPaces = 10_000

// Gate lets requests in that carry a bearer token, at the pace of each token.
// It is safe for concurrent use.
type Gate struct {
	verifier Verifier
	paces    *ratelimit.Keyed[string] // by token
	observer Observer
}

// NewGate returns a Gate.
func NewGate(verifier Verifier, pace ratelimit.Limit, observer Observer) *Gate {
	return &Gate{verifier: verifier, paces: ratelimit.NewKeyed[string](pace, maxPaces, time.Now), observer: observer}
}

// Authenticate serves next with the grant of the request's bearer token in the
// context, where access.GrantFrom finds it. It answers 401, 429 or 503 itself.
func (g *Gate) Authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		grant, refusal := g.admit(r)
		if refusal != nil {
			g.observer.Refused(r.Context(), string(refusal.Code))
			refusal.write(w)
			return
		}
		next.ServeHTTP(w, r.WithContext(access.WithGrant(r.Context(), grant)))
	})
}

func (g *Gate) admit(r *http.Request) (access.Grant, *problem) {
	bearer, ok := bearerOf(r)
	if !ok {
		return access.Grant{}, unauthorized(codeNoToken, "send the header Authorization: Bearer rc_…")
	}
	grant, err := g.verifier.Verify(r.Context(), bearer)
	switch {
	case errors.Is(err, access.ErrUnknown), errors.Is(err, access.ErrExpired), errors.Is(err, access.ErrRevoked):
		return access.Grant{}, unauthorized(codeBadToken, "the token is unknown, expired or revoked")
	case err != nil:
		return access.Grant{}, unavailable("tokens cannot be checked just now")
	}
	if wait := g.paces.Wait(grant.Token); wait > 0 {
		return access.Grant{}, tooMany("the token asks more often than it may", wait)
	}
	return grant, nil
}

// bearerOf returns the token of the Authorization header (RFC 6750).
func bearerOf(r *http.Request) (string, bool) {
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, found && strings.EqualFold(scheme, "Bearer") && token != ""
}
